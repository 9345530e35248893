/// \file
/// A lane at work: a set of synapses together with the way their spikes travel.
///
/// A spike waits in three places: in the send buffer of the window that fills, for up to P cycles; on its
/// way, for L windows, where the lane has a lag; and in the ring buffer of its target, for what is left
/// of the delay of each synapse. A delay longer than a cycle needs nothing else: the row of the ring is
/// chosen by it.
///
/// In each cycle its spikes are collocated into a send buffer. When the window ends, its exchange starts. It
/// is finished L windows later, and the receive buffer then holds what the synapse tables of this rank are to
/// deliver. So there are L + 1 windows at a time, the one that fills and L that travel. Each has a send
/// buffer and an exchange (struct transfer), which the next windows use again, in turn. build.c makes lanes,
/// and simulate.c drives them.
///
/// A lag is a number of windows: what a window collected is delivered that many windows later than it could
/// be. An exchange overlaps with computing if its lane has a lag and its back-end does some of its work in
/// start() and progress(). The lag costs nothing in exactness where delays are long enough
/// (schedule/schedule.h), and a window more of memory.
///
/// With a period P of 2 cycles and a lag L of 1, windows and cycles follow each other like this:
///
///     cycle             0     1     2     3     4     5     6
///     collected in      window 0  | window 1  | window 2  | ...
///     under way               -   | window 0  | window 1  | ...
///     delivered in                            4: window 0   6: window 1
///
/// A spike of cycle 0 is delivered at the beginning of cycle 4 = P (L + 1), so no synapse of the lane may
/// have a delay shorter than four cycles. The steps of its synapses are counted from the step of the spike,
/// which its word has, not from the cycle of delivery.

#pragma once

#include "schedule/lane_plan.h"
#include "synapse/table.h"
#include "transport/routes.h"

/// What a window needs to be filled and moved. A lane has L + 1 of them, which its windows use in turn: with
/// L = 1, windows 0, 2, 4, ... use the first, and windows 1, 3, 5, ... the second. Its two sides may belong
/// to different windows: what arrived stays in `exchange` and `words` until it has been delivered, while
/// `send_buffer` is filled for the next window that uses it.
struct transfer {
    struct send_buffer send_buffer; ///< owned: spikes collected so far, or sent and in use by the exchange
    struct exchange *exchange;      ///< owned; moves this send buffer only
    uint32_t first_step;            ///< first step of the window that is collected
    uint32_t sent_step;             ///< first step of the window that was sent last
    bool started;                   ///< its exchange has begun and has not been finished
    bool arrived;                   ///< what was sent is there and has not been delivered yet
    const uint32_t *words; ///< what to deliver, in one run; NULL: the runs of the exchange's receive buffer
    size_t n_words;        ///< in all runs
    struct word_buffer own_words; ///< memory for `words` that lie in no exchange
};

/// A lane as one rank sees it: which ranks it exchanges with, and what this rank sends and delivers in it.
struct lane {
    const struct lane_plan *plan;           ///< borrowed
    MPI_Comm comm;                          ///< of the ranks that exchange; MPI_COMM_SELF for a rank alone
    int ranks;                              ///< how many they are
    int place;                              ///< which of them this one is
    const struct exchange_backend *backend; ///< `self` for a rank alone
    struct spike_format format;             ///< bits of a word for the step within the window
    delivery_function *deliver;             ///< how spikes go from the tables to the ring buffers
    struct synapse_table *tables;           ///< [threads]; owned by the lane, filled by build.c
    struct routes routes;                   ///< where the spikes of this rank's neurons go
    struct search search;                   ///< of a broadcast
    struct fanout *fanout;                  ///< NULL unless the exchange merges
    struct transfer *transfers;             ///< [lag + 1], used in turn
    struct foreign *foreign; ///< spikes of the other ranks; NULL but in a dry run of several ranks
    uint32_t filling;        ///< number of the transfer whose send buffer is being filled
    /// windows ended and words collected, since lane_reset_counts()
    uint64_t ended, spikes_sent;
};

/// Makes the lane's communicator, and tests the back-end with a few known data. Collective over `world`.
/// Fails, on all ranks alike, where the lane spans nodes and must not, or loses data. Close the lane in any
/// case.
bool lane_connect(struct lane *lane, const struct lane_plan *plan, MPI_Comm world, struct error *error);
/// Sets the lane of rank `rank` of the plan without connecting or testing anything: all that a dry run needs,
/// and the first step of lane_connect().
void lane_init(struct lane *lane, const struct lane_plan *plan, int rank);

/// Opens the routes and the exchanges. Collective over the lane. `source_table` are the lists of this rank,
/// `own_gids` its `n` neurons in their order. Fails on all ranks alike, as levels_hooks->open_fanout() does.
bool lane_open(struct lane *lane, const struct source_table *source_table, const uint32_t *own_gids,
               uint32_t n, struct error *error);
/// In a dry run, opens only the exchanges. `per_owner` [ranks]: lists here of sources on each.
bool lane_open_dry(struct lane *lane, const uint32_t *per_owner, struct error *error);
/// Frees all that the lane owns, its communicator included, which is collective. The tables must have been
/// closed before.
void lane_close(struct lane *lane);

/// Begin the first window at `step`; forget what has been counted so far, as the measured part begins.
void lane_begin(struct lane *lane, uint32_t step);
void lane_reset_counts(struct lane *lane);

/// Says whether any neuron of this rank has a list in the lane.
static inline bool lane_sends(const struct lane *lane) {
    return lane->routes.first[lane->routes.neurons] > 0;
}

/// Adds the spikes of a thread to the send buffer. Neuron 0 of the thread is number `first` of this rank.
void lane_collocate(struct lane *lane, const struct spike *spikes, uint32_t n, uint32_t first);

/// Waits at a barrier for all ranks of the lane. Collective over the lane.
void lane_synchronise(struct lane *lane);

/// Ends the window and starts its exchange. The next window begins at step `next`.
void lane_start(struct lane *lane, uint32_t next);

/// Lets MPI work on the exchanges under way of all lanes with a lag. Not collective; the master thread does
/// it, since MPI may allow no other.
void lanes_progress(struct lane *lanes, int n);
/// Says whether any lane has exchanges under way while neurons are updated.
bool lanes_overlap(const struct lane *lanes, int n);

/// Finishes the exchange that is due, if any, or with `all` every exchange under way.
void lane_finish(struct lane *lane, bool all);

/// Delivers, as one of the threads, all windows that have arrived, to the ring of this thread. Threads call
/// it side by side. \return what it counted: synapses, lists entered, spikes looked up.
struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring);

/// Marks arrived windows as delivered. Call it once every thread is done.
/// Until then, lane_deliver() would deliver them again.
void lane_clear(struct lane *lane);

/// Messages and bytes sent since lane_reset_counts(), in all and in a level; bytes of routes and buffers.
struct traffic lane_traffic(const struct lane *lane);
struct level_traffic lane_level(const struct lane *lane, int level);
size_t lane_route_bytes(const struct lane *lane);
size_t lane_buffer_bytes(const struct lane *lane);
