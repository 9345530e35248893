/// \file
/// A lane at work: a set of synapses together with the way their spikes travel.
///
/// In each cycle its spikes are collocated into an outbox. When the window ends, its exchange starts. It is
/// finished L windows later, and the inbox then holds what the synapse tables of this rank are to deliver. So
/// L + 1 windows are under way at a time, each with an outbox and an exchange of its own. build.c makes
/// lanes, and simulate.c drives them.

#pragma once

#include "schedule/schedule.h"
#include "synapse/table.h"
#include "transport/fanout.h"

struct window {
    struct outbox outbox;
    struct exchange *exchange;
    uint32_t first_step, sent_step; ///< first step of what is being collected, and of what was sent last
    bool started, arrived;          ///< arrived: what was sent has not been delivered yet
    const uint32_t *words;          ///< what to deliver, in one run; NULL: the runs of the exchange's inbox
    size_t n_words;                 ///< in all runs
    struct joined joined;           ///< memory for `words` that no exchange holds
};

struct lane {
    const struct lane_plan *plan; ///< borrowed
    MPI_Comm comm;                ///< of the ranks that exchange; MPI_COMM_SELF for a rank alone
    int ranks, place;             ///< how many they are, and which of them this one is
    const struct exchange_backend *backend;
    struct spike_format format;
    struct synapse_table *tables; ///< [threads]; owned by the lane, filled by build.c
    struct routes routes;
    struct search search;    ///< of a broadcast
    struct fanout *fanout;   ///< NULL unless the exchange merges
    struct window *windows;  ///< [lag + 1]
    struct foreign *foreign; ///< spikes of the other ranks; NULL but in a dry run of several ranks
    uint32_t filling;        ///< number of the window being collected
    uint64_t ended, spikes_sent;
};

/// Makes the lane's communicator, and tests the back-end with a few known data. Collective over `world`.
/// Fails, on all ranks alike, where the lane spans nodes and must not, or loses data. Close the lane in any
/// case.
bool lane_connect(struct lane *lane, const struct lane_plan *plan, MPI_Comm world, struct error *error);
/// In a dry run, as rank `rank` of the plan, it connects and tests nothing.
void lane_connect_alone(struct lane *lane, const struct lane_plan *plan, int rank);

/// Opens the routes and the exchanges. Collective over the lane. `wanted` are the lists of this rank,
/// `own_gids` its `n` neurons in their order. Fails on all ranks alike, as fanout_open() does.
bool lane_open(struct lane *lane, const struct wanted *wanted, const uint32_t *own_gids, uint32_t n,
               struct error *error);
/// In a dry run, opens only the exchanges. `per_owner` [ranks]: lists here of sources on each.
bool lane_open_alone(struct lane *lane, const uint32_t *per_owner, struct error *error);
void lane_close(struct lane *lane);

/// Begin the first window at `step`; forget what has been counted so far, as the measured part begins.
void lane_begin(struct lane *lane, uint32_t step);
void lane_reset_counts(struct lane *lane);

/// Says whether any neuron of this rank has a list in the lane.
static inline bool lane_sends(const struct lane *lane) {
    return lane->routes.first[lane->routes.neurons] > 0;
}

/// Adds the spikes of a thread to the outbox. Neuron 0 of the thread is number `first` of this rank.
void lane_collocate(struct lane *lane, const struct spike *spikes, uint32_t n, uint32_t first);

void lane_synchronise(struct lane *lane);

/// Ends the window and starts its exchange. The next window begins at step `next`. In a dry run, call
/// lane_make_up() before: it makes up what the other ranks send.
void lane_make_up(struct lane *lane, uint32_t next);
void lane_start(struct lane *lane, uint32_t next);

/// Gives MPI a chance to work on what has been started. Not collective.
void lane_progress(struct lane *lane);

/// Finishes the exchange that is due, if any, or with `all` every exchange under way.
void lane_finish(struct lane *lane, bool all);

struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring);

/// Marks arrived windows as delivered. Call it once every thread is done.
void lane_clear(struct lane *lane);

/// Words and bytes sent, in all and in a level; words that a dry run copied; bytes of routes and buffers.
struct traffic lane_traffic(const struct lane *lane);
struct level_traffic lane_level(const struct lane *lane, int level);
uint64_t lane_words(const struct lane *lane);
size_t lane_route_bytes(const struct lane *lane);
size_t lane_buffer_bytes(const struct lane *lane);
