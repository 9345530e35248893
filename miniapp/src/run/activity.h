/// \file
/// How many spikes each population of this rank fires over the measured part, for activity.npy: what
/// another placement would make of the work of each rank follows from these counts.
///
/// Cost of a cycle: one addition for each block of neurons. Memory: at most 4 bytes for activity_counts
/// of them on a rank; longer runs are divided into stretches of several cycles.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The measured cycles are divided into stretches of equal length, of which the last may be shorter.
struct activity {
    uint32_t populations; ///< of the network
    uint32_t threads;     ///< of this rank
    uint32_t cycles;      ///< of a stretch
    uint32_t stretches;   ///< 0 where nobody asked for the file
    uint32_t **counts;    ///< [threads][stretches + 1][populations]; the last row holds what is not kept
};

/// Counts on a rank at most: 16 MiB of four bytes. Runs with more cycles x populations are divided into
/// stretches.
enum { activity_counts = 1 << 22 };

/// Opens counts of so many cycles. A rank has at most activity_counts of them, and one stretch at least.
void activity_open(struct activity *activity, uint32_t populations, int threads, uint32_t cycles, bool keep);
/// Frees the counts.
void activity_close(struct activity *activity);

/// Returns the counts [populations] of a thread that a measured cycle adds to.
static inline uint32_t *activity_row(const struct activity *activity, int thread, uint32_t cycle) {
    const uint32_t row = activity->stretches ? cycle / activity->cycles : 0;
    return activity->counts[thread] + (size_t)row * activity->populations;
}

/// Returns the counts of a thread that are not kept, such as those of the warm-up.
static inline uint32_t *activity_unkept(const struct activity *activity, int thread) {
    return activity->counts[thread] + (size_t)activity->stretches * activity->populations;
}

/// Returns the bytes of all counts.
uint64_t activity_bytes(const struct activity *activity);
