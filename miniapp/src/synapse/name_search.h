/// \file
/// Finds the synapses of a list among many whose names ascend, by bisection: what did not fit its line.

#pragma once

#include "base/alloc.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A part of the synapses: words first ... end - 1.
struct span_of_words {
    const uint32_t *first, *end;
};

/// Returns the first of the words first ... end - 1 whose name is not below `name`.
ALWAYS_INLINE const uint32_t *find_name(const uint32_t *first, const uint32_t *end, uint32_t name,
                                        unsigned used_bits, const size_t words_of_one) {
    for (size_t n = (size_t)(end - first) / words_of_one; n > 0;) {
        const uint32_t *middle = first + n / 2 * words_of_one;
        const bool below = *middle >> used_bits < name;
        first = below ? middle + words_of_one : first;
        n = below ? n - n / 2 - 1 : n / 2;
    }
    return first;
}

/// Finds the synapses called `name` among many whose names ascend, by bisection. Most often the list has all
/// of them.
ALWAYS_INLINE struct span_of_words find_list(struct span_of_words all, uint32_t name, unsigned used_bits,
                                             const size_t words_of_one) {
    const uint32_t *first = *all.first >> used_bits == name
                                ? all.first
                                : find_name(all.first, all.end, name, used_bits, words_of_one);
    const uint32_t *end = *(all.end - words_of_one) >> used_bits == name
                              ? all.end
                              : find_name(first, all.end, name + 1, used_bits, words_of_one);
    return (struct span_of_words){first, end};
}
