/// \file
/// Spikes: as a thread emits them, and as they travel.

#pragma once

#include <stdint.h>

struct spike {
    uint32_t neuron; ///< index among the neurons of the thread
    uint32_t gid;    ///< id in the network
    uint32_t step;   ///< time of the spike; the first step of the run is 0
};

/// On the wire a spike is one 32-bit word. Its low bits hold the step within the window, those above hold the
/// number of the synapse list at the receiver, which therefore finds the list without searching.
struct spike_format {
    unsigned step_bits;
};

/// Returns the format for windows of `steps` steps. (Only a lane without synapses can have a window of more
/// than 2^32 steps.)
static inline struct spike_format spike_format(uint64_t steps) {
    unsigned bits = 0;
    while (bits < 32 && ((uint64_t)1 << bits) < steps) bits++;
    return (struct spike_format){bits};
}

/// Returns how many lists a receiver may have: lower numbers than this fit beside the step.
static inline uint64_t spike_lists_limit(struct spike_format format) {
    return (uint64_t)1 << (32 - format.step_bits);
}

static inline uint32_t spike_pack(struct spike_format format, uint32_t list, uint32_t step_in_window) {
    return (list << format.step_bits) | step_in_window;
}

static inline uint32_t spike_list(struct spike_format format, uint32_t word) {
    return word >> format.step_bits;
}

static inline uint32_t spike_step(struct spike_format format, uint32_t word) {
    return word & (((uint32_t)1 << format.step_bits) - 1);
}

// -------------------- checksum
// An order-free checksum: the sum modulo 2^64 of mixed items. Equal sets give equal sums in any order, and
// however they are split over ranks and threads, since the sums of the parts are added.

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
