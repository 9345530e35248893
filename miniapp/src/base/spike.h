/// \file
/// Spikes: as a thread emits them, and as they travel.
///
/// The word of a spike, where a window of 10 steps takes 4 bits:
///
///     31                                  4 3        0
///     | number of the list at the receiver | step    |
///
/// So a receiver may have up to 2^28 lists in such a lane; run/lists.c refuses more (lists_check_words()).
/// Longer windows leave fewer bits to the list. A broadcast has the number of the neuron on its rank in the
/// place of the list, and the receiver replaces it (transport/search.h).

#pragma once

#include <stdint.h>

/// A spike as a thread emits it, 12 bytes. Only `neuron` and `step` are needed to send it.
struct spike {
    uint32_t neuron; ///< index among the neurons of the thread
    uint32_t gid;    ///< id in the network
    uint32_t step;   ///< time of the spike; the first step of the run is 0
};

/// On the wire a spike is one 32-bit word. Its low bits hold the step within the window, those above hold the
/// number of the synapse list at the receiver, which therefore finds the list without searching.
struct spike_format {
    unsigned step_bits; ///< 0 to 32: low bits of a word that hold the step within the window
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

/// Returns the word of a spike: list above, step within the window below.
static inline uint32_t spike_pack(struct spike_format format, uint32_t list, uint32_t step_in_window) {
    return (list << format.step_bits) | step_in_window;
}

/// Returns the list that a word names.
static inline uint32_t spike_list(struct spike_format format, uint32_t word) {
    return word >> format.step_bits;
}

/// Returns the step within the window of a word.
static inline uint32_t spike_step(struct spike_format format, uint32_t word) {
    return word & (((uint32_t)1 << format.step_bits) - 1);
}
