/// \file
/// What the tests of exchanges share: moving windows of known words through one, on all ranks of the world.

#pragma once

#include "support.h"

enum { ranks_max = 64 };

/// Says whether a back-end serves so many ranks, and with ordinary() whether it may also be part of others.
bool serves(const struct exchange_backend *backend, int ranks);
bool ordinary(const struct exchange_backend *backend, int ranks);

/// Returns the back-end as it is tested by itself: of a composed one, some level is p2p, in groups of two.
struct exchange_spec plain_spec(const struct exchange_backend *backend);

/// Says whether `from`, which is not `to`, may send to it.
typedef bool topology(int from, int to, int ranks);

bool every_pair(int from, int to, int ranks);
bool ring_neighbours(int from, int to, int ranks);
/// Connects a third of the pairs; one direction of a pair says nothing about the other.
bool random_sparse(int from, int to, int ranks);
bool nobody(int from, int to, int ranks);
extern topology *const topologies[]; ///< ended by NULL

/// Returns how many words `from` sends to `to`, a rank it may send to, in a window.
typedef uint32_t pattern(int from, int to, int ranks, uint32_t window);

uint32_t uneven(int from, int to, int ranks, uint32_t window);
/// Small windows with a burst every tenth, beyond any buffer made so far and what MPI sends at once.
uint32_t bursts(int from, int to, int ranks, uint32_t window);
extern pattern *const patterns[]; ///< ended by NULL

/// An exchange, what goes through it and how it was received.
struct trial {
    struct exchange *exchange;
    struct send_buffer send_buffer;
    topology *linked;
    uint32_t key;    ///< distinguishes the words of two trials
    uint64_t others; ///< words meant for other ranks so far; a broadcast's count for each of them
    uint64_t faults; ///< runs and words that were not as expected, on this rank
};

void trial_open(struct trial *trial, struct exchange_spec spec, topology *linked, uint32_t key);
void trial_start(struct trial *trial, pattern *count, uint32_t window);
void trial_finish(struct trial *trial, pattern *count, uint32_t window);
void trial_window(struct trial *trial, pattern *count, uint32_t window);

/// \return the faults of all ranks. Tests judge these: a rank that stopped alone would leave the others
/// waiting.
uint64_t trial_close(struct trial *trial);

/// Moves some windows of `bursts` through a fresh exchange, on ranks of uneven speed if asked for. Fails the
/// test unless all words arrive. \return what the exchange's common part was at the end: its counts are
/// valid, its pointers not.
struct exchange try_exchange(struct exchange_spec spec, topology *linked, uint32_t windows,
                             bool uneven_speed);

/// Waits up to half a millisecond in one of four cases, differently on each rank.
void be_late(uint64_t *random);

/// Calls `check` with every grid of the ranks of the world in up to `most` levels and bridges on both sides,
/// without parts.
void for_each_grid(int most, void (*check)(struct levels levels));
