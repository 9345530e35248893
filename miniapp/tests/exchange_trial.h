/// \file
/// What the tests of exchanges share: moving windows of known words through one, on all ranks of the world.

#ifndef TESTS_EXCHANGE_TRIAL_H
#define TESTS_EXCHANGE_TRIAL_H

#include "support.h"

int world_rank(void);
int world_ranks(void);

/// Says whether a back-end serves so many ranks, and with ordinary() whether it may also be part of others.
bool serves(const struct exchange_backend *backend, int ranks);
bool ordinary(const struct exchange_backend *backend, int ranks);

/// Which ranks send to which.
typedef bool (*topology)(int from, int to);

bool everyone(int from, int to);
/// Connects about a third of the pairs, in one direction each; some ranks have no targets, others no sources.
bool few(int from, int to);
bool nobody(int from, int to);

/// Returns how many words one rank sends to another in a window: few, and now and then a burst from one rank
/// beyond all that has been before. A broadcast asks with `to` 0.
uint32_t trial_words(int from, int to, uint32_t window);

/// Moves some windows through a fresh exchange, on ranks of uneven speed if asked for, and compares what
/// arrives. \return what the exchange's common part was at the end: its counts are valid, its pointers not.
struct exchange trial(struct exchange_spec spec, topology sends, uint32_t windows, bool uneven_speed);

/// Calls `check` with every grid of the ranks of the world in up to `most` levels and bridges on both sides,
/// without parts.
void for_each_grid(int most, void (*check)(struct levels levels));

#endif
