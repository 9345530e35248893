/// \file
/// A checksum that does not depend on order: the sum, modulo 2^64, of mixed items.
///
/// An item is a spike (neuron and step) or the final state of a neuron. Each is mixed by itself, so that
/// equal sets of items give equal sums in any order, and however they are split over ranks and threads, since
/// the sums of the parts are added. A sum of unmixed items would not tell spikes (1, 4), (2, 3) from (1, 3),
/// (2, 4).
///
/// The checksum of a run is the sum over all spikes of all ranks in the measured part (run/simulate.c) and
/// over the states of all neurons at its end (record/tally.c). It is the same for any ranks, threads,
/// placement, schedule and exchange, which is how the tests find a spike that is lost, late, or delivered
/// twice. Two different sets agree by chance once in 2^64.

#pragma once

#include <stdint.h>

/// Mixes an item by the output function of splitmix64 (Steele et al. 2014), a bijection that spreads every
/// bit.
static inline uint64_t checksum_mix(uint64_t item) {
    item += 0x9e3779b97f4a7c15u;
    item = (item ^ (item >> 30)) * 0xbf58476d1ce4e5b9u;
    item = (item ^ (item >> 27)) * 0x94d049bb133111ebu;
    return item ^ (item >> 31);
}

/// Returns the item for a spike of neuron `gid` at `step`.
static inline uint64_t checksum_spike(uint32_t gid, uint32_t step) {
    return checksum_mix(gid + ((uint64_t)step << 32));
}

/// Returns the item for the `state` in which neuron `gid` ends.
static inline uint64_t checksum_state(uint32_t gid, uint64_t state) {
    return checksum_mix(checksum_mix(gid) + state);
}
