/// \file
/// A spike, where it is fired and on the wire.

#ifndef BASE_SPIKE_H
#define BASE_SPIKE_H

#include <stdint.h>

/// A spike as a thread emits it.
struct spike {
    uint32_t neuron; ///< index among the neurons of the thread
    uint32_t gid;    ///< id in the network
    uint32_t step;   ///< time of the spike; the first step of the run is 0
};

/// On the wire a spike is one 32-bit word: the number of the synapse list at the receiver above, the step
/// within the window in the low bits. So the receiver finds the list without searching.
struct spike_format {
    unsigned step_bits;
};

/// The format for windows of `steps` steps. (One of more than 2^32 is that of a lane without synapses.)
static inline struct spike_format spike_format(uint64_t steps) {
    unsigned bits = 0;
    while (bits < 32 && ((uint64_t)1 << bits) < steps) bits++;
    return (struct spike_format){bits};
}

/// Lists a receiver may have: numbers below this fit beside the step.
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

#endif
