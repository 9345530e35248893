/// \file
/// A lane at work: a set of synapses together with the way their spikes travel.
///
/// Each cycle its spikes are collocated into the outbox. When the window ends, the exchange moves them, and
/// the inbox holds what the synapse tables of this rank are to deliver. Made by build.c, driven by
/// simulate.c.

#ifndef ASSEMBLY_LANE_H
#define ASSEMBLY_LANE_H

#include "assembly/schedule.h"
#include "base/spike.h"
#include "synapse/table.h"
#include "transport/exchange.h"
#include "transport/routes.h"

struct lane {
    const struct lane_plan *plan; ///< borrowed
    MPI_Comm comm;                ///< of the ranks that exchange; borrowed
    struct spike_format format;
    struct synapse_table *tables; ///< [threads]; owned by the lane, filled by build.c
    struct routes routes;
    struct outbox outbox;
    struct exchange *exchange;
    uint32_t window;    ///< first step of the window being collected
    uint32_t delivered; ///< first step of the window in the inbox
    bool inbox_full;    ///< the inbox has not been delivered yet
    uint64_t windows, spikes_sent;
};

/// Collective. `wanted` are this rank's lists, `own_gids` its `n` neurons in their order on the rank.
void lane_open(struct lane *lane, const struct wanted *wanted, const uint32_t *own_gids, uint32_t n);
void lane_close(struct lane *lane);

/// Forgets what has been counted so far: the measured part begins.
void lane_reset_counts(struct lane *lane);

/// Adds a spike of this rank's neuron number `neuron` to the outbox.
void lane_collocate(struct lane *lane, uint32_t neuron, uint32_t step);

/// Waits for the other ranks of the lane.
void lane_synchronise(struct lane *lane);

/// Exchanges the window; the next one begins at step `next`.
void lane_exchange(struct lane *lane, uint32_t next);

/// Delivers the inbox to the neurons of a thread.
struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring);

#endif
