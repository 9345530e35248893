/// \file
/// An order-free checksum: the sum modulo 2^64 of mixed items. Equal sets give equal sums in any order, and
/// however they are split over ranks and threads, since the sums of the parts are added.

#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

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

#endif
