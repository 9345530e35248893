/// \file
/// Finds a list in a block of lists, whose synapses name their lists (synapse/table.h).

#ifndef SYNAPSE_BLOCK_H
#define SYNAPSE_BLOCK_H

#include "synapse/buckets.h"
#include <stdbool.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

/// A part of the synapses: words first ... end - 1.
struct span_of_words {
    const uint32_t *first, *end;
};

#ifdef __AVX2__
/// Returns a bit for each of eight words, set where the word names the list.
static inline uint32_t named_of_eight(const uint32_t *words, __m128i shift, __m256i name) {
    const __m256i eight = _mm256_loadu_si256((const __m256i *)words);
    return (uint32_t)_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_srl_epi32(eight, shift), name)));
}
#endif

/// Returns the first of the words first ... end - 1 whose name is not below `name`.
__attribute__((always_inline)) static inline const uint32_t *find_name(const uint32_t *first,
                                                                       const uint32_t *end, uint32_t name,
                                                                       unsigned used_bits,
                                                                       const size_t words_of_one) {
    for (size_t n = (size_t)(end - first) / words_of_one; n > 0;) {
        const uint32_t *middle = first + n / 2 * words_of_one;
        const bool below = *middle >> used_bits < name;
        first = below ? middle + words_of_one : first;
        n = below ? n - n / 2 - 1 : n / 2;
    }
    return first;
}

/// Finds the synapses of the list `name` in a block, whose names ascend. Where the block has up to 16 words,
/// as most have, they are compared all at once, without any branch that could be foreseen wrongly; what lies
/// behind the block may be read, too. In longer blocks the list is found by bisection, since a few lists of a
/// table may be much longer than the others.
__attribute__((always_inline)) static inline struct span_of_words
find_list(struct span_of_words block, uint32_t name, unsigned used_bits, const size_t words_of_one) {
#ifdef __AVX2__
    const size_t length = (size_t)(block.end - block.first);
    if (words_of_one == 1 && length <= search_words) {
        const __m128i shift = _mm_cvtsi32_si128((int)used_bits);
        const __m256i wanted = _mm256_set1_epi32((int)name);
        uint32_t named =
            named_of_eight(block.first, shift, wanted) | named_of_eight(block.first + 8, shift, wanted) << 8;
        named &= ((uint32_t)1 << length) - 1;
        const uint32_t *first = block.first + __builtin_ctz(named | 1u << search_words);
        return (struct span_of_words){first, first + __builtin_popcount(named)};
    }
#endif
    const uint32_t *first = find_name(block.first, block.end, name, used_bits, words_of_one);
    return (struct span_of_words){first, find_name(first, block.end, name + 1, used_bits, words_of_one)};
}

#endif
