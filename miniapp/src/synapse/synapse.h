/// \file
/// How a synapse is packed.
///
/// It is one 32-bit word with its weight class above and its place below, where place = delay x neurons +
/// target. Without classes it is two words, its place and its own weight. What is above place and class
/// names the source among a few.
///
/// While tables are made:  | low bits of the source | class | place |   (synapse/buckets.h)
/// With starts:            |         0              | class | place |   the list follows from where it stands
/// In a line:              | name within the line   | class | place |   (synapse/lines.h)
///
/// Example: 1000 neurons on a thread and delays up to 15 steps need 14 bits for the place (16 x 1000 values),
/// and two weights 1 bit. 17 bits are left for the source, or the name.

#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Says how the synapses of a thread are packed, and what their weight classes weigh.
struct synapse_format {
    uint32_t neurons;       ///< of the thread
    unsigned place_bits;    ///< low bits of a word that hold the place
    unsigned used_bits;     ///< of place and class together
    uint32_t classes;       ///< 0: every synapse holds its own weight
    const int32_t *weights; ///< [classes] in units; borrowed
};

/// Returns how many words of 32 bits a synapse takes.
static inline size_t synapse_words(const struct synapse_format *format) {
    return format->classes == 0 ? 2 : 1;
}

/// Returns the same in bytes.
static inline size_t synapse_bytes(const struct synapse_format *format) {
    return sizeof(uint32_t) * synapse_words(format);
}

/// Finds the format for a thread of `neurons` neurons with delays up to `longest_delay` steps. Fails if place
/// and class do not fit in 32 bits.
bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error);

/// Returns the word of a synapse onto neuron `target` of the thread, with a delay in steps and the number of
/// its weight class. Place = delay x neurons + target is where the input lies in a ring whose row 0 is the
/// step of the spike.
static inline uint32_t synapse_pack(const struct synapse_format *format, uint32_t target, uint32_t delay,
                                    uint32_t weight_class) {
    return (uint32_t)((uint64_t)weight_class << format->place_bits) | (delay * format->neurons + target);
}

/// Returns how many bits tell so many values from each other.
static inline unsigned bits_for(uint64_t values) {
    return values > 1 ? 64 - (unsigned)__builtin_clzll(values - 1) : 0;
}
