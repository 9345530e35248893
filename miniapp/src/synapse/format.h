/// \file
/// How a synapse is packed.
///
/// It is one 32-bit word with its weight class above and its place below, where place = delay x neurons +
/// target. Without classes it is two words, its place and its own weight. What is above place and class names
/// the source among a few (synapse/table.h, synapse/buckets.h).

#ifndef SYNAPSE_FORMAT_H
#define SYNAPSE_FORMAT_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

/// Says how the synapses of a thread are packed, and what their weight classes weigh.
struct synapse_format {
    uint32_t neurons; ///< of the thread
    unsigned place_bits;
    unsigned used_bits;     ///< of place and class together
    uint32_t classes;       ///< 0: every synapse holds its own weight
    const int32_t *weights; ///< [classes] in units; borrowed
};

/// Returns the number of words of a synapse.
static inline size_t synapse_words(const struct synapse_format *format) {
    return format->classes == 0 ? 2 : 1;
}

static inline size_t synapse_bytes(const struct synapse_format *format) {
    return sizeof(uint32_t) * synapse_words(format);
}

/// Finds the format for a thread of `neurons` neurons with delays up to `longest_delay` steps. Fails if place
/// and class do not fit in 32 bits.
bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error);

static inline uint32_t synapse_pack(const struct synapse_format *format, uint32_t target, uint32_t delay,
                                    uint32_t weight_class) {
    return (uint32_t)((uint64_t)weight_class << format->place_bits) | (delay * format->neurons + target);
}

#endif
