/// \file
/// How many words which rank sends to which: the loads that test_exchange puts on every back-end.

#ifndef TESTS_EXCHANGE_PATTERNS_H
#define TESTS_EXCHANGE_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

enum { ranks_max = 64 };

/// Returns how many words `from` sends to `to`, a rank it may send to, in a window.
typedef uint32_t pattern(int from, int to, int ranks, uint32_t window);

static uint32_t nothing(int from, int to, int ranks, uint32_t window) {
    return (void)from, (void)to, (void)ranks, (void)window, 0;
}

static uint32_t uneven(int from, int to, int ranks, uint32_t window) {
    return (uint32_t)(from * 7 + to * 3 + ranks) * (window + 1) % 23;
}

static uint32_t one_sends_all(int from, int to, int ranks, uint32_t window) {
    return (void)to, from == (int)(window % (uint32_t)ranks) ? 40 : 0;
}

/// Small windows with a burst every tenth, beyond any buffer made so far and what MPI sends at once.
static uint32_t bursts(int from, int to, int ranks, uint32_t window) {
    return window % 10 == 9 ? (window + 1) * 60 + (uint32_t)((from + to) % ranks) : 1;
}

static pattern *const patterns[] = {nothing, uneven, one_sends_all, bursts};

/// Says whether `from`, which is not `to`, may send to it.
typedef bool topology(int from, int to, int ranks);

static bool all_to_all(int from, int to, int ranks) {
    return (void)from, (void)to, (void)ranks, true;
}

static bool ring_neighbours(int from, int to, int ranks) {
    return to == (from + 1) % ranks || from == (to + 1) % ranks;
}

static bool one_to_all(int from, int to, int ranks) {
    return (void)to, from == ranks / 2;
}

static bool all_to_one(int from, int to, int ranks) {
    return (void)from, to == ranks / 2;
}

/// Connects a third of the pairs; one direction of a pair says nothing about the other.
static bool random_sparse(int from, int to, int ranks) {
    uint64_t mixed = (uint64_t)(from * ranks_max + to + ranks) * 0x9E3779B97F4A7C15u;
    return (mixed >> 33) % 3 == 0;
}

static topology *const topologies[] = {all_to_all, ring_neighbours, one_to_all, all_to_one, random_sparse};

#endif
