/// \file
/// A thread of a network that was drawn, without its neurons: its lists, and a ring for their input.

#ifndef BENCH_DRAWN_H
#define BENCH_DRAWN_H

#include "base/ring.h"
#include "synapse/table.h"

struct drawn {
    struct synapse_table table;
    struct ring ring;
    uint32_t *spikes; ///< lists in a random order
    size_t n_spikes, next, batch;
    uint32_t step; ///< of the spikes delivered last
};

/// Opens 20 million synapses onto `n_neurons` neurons, in lists of 64 on the mean. A batch of spikes has so
/// many events on the mean.
struct drawn *drawn_open(uint32_t n_neurons, size_t events);
void drawn_close(struct drawn *drawn);

/// Delivers the next batch of spikes, a step later than the one before. \return synaptic events.
uint64_t drawn_deliver(struct drawn *drawn);

#endif
