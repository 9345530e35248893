/// \file
/// Reads the synapses of one list from a line without a branch that could be foreseen wrongly: with AVX2
/// where the processor has it, else word by word.

#pragma once

#include "base/alloc.h"
#include "synapse/lines.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/// Some of 16 words: from `first` on, `count` of them.
struct line_span {
    uint32_t first, count;
};

/// Finds the synapses called `name` among 16 words, of which the first `length` are synapses. There is no
/// branch that could be foreseen wrongly.
ALWAYS_INLINE struct line_span line_find(const uint32_t *words, uint32_t name, unsigned used_bits,
                                         uint32_t length, const size_t words_of_one) {
    // Only words that begin a synapse count: with two words for each, every other one.
    const uint32_t valid = (words_of_one == 2 ? 0x5555u : 0xffffu) & (((uint32_t)1 << length) - 1);
#ifdef __AVX2__
    const __m128i shift = _mm_cvtsi32_si128((int)used_bits);
    const __m256i wanted = _mm256_set1_epi32((int)name);
    uint32_t named = 0;
    for (int half = 0; half < 2; half++) {
        const __m256i eight = _mm256_loadu_si256((const __m256i *)(words + 8 * half));
        const __m256i same = _mm256_cmpeq_epi32(_mm256_srl_epi32(eight, shift), wanted);
        named |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << 8 * half;
    }
#else
    uint32_t named = 0;
    for (unsigned k = 0; k < line_words; k++) named |= (uint32_t)(words[k] >> used_bits == name) << k;
#endif
    // The synapses of a list lie side by side, so the first and the number say which they are.
    named &= valid;
    return (struct line_span){(uint32_t)__builtin_ctz(named | 1u << (line_words - 1)),
                              (uint32_t)__builtin_popcount(named) * (uint32_t)words_of_one};
}

/// What turns synapses into cells of the ring: place + row, modulo the size of the ring.
struct line_shift {
    uint32_t places, classes; ///< masks
    uint32_t row, size;
};

/// Writes to `out` 8 of the 16 words, from `first` on, modulo 16: the class, and the cell instead of the
/// place. Of synapses of two words the second stays as it is. It reads no other words, because these could
/// be in another line.
ALWAYS_INLINE void line_put_eight(uint32_t *out, const uint32_t *words, uint32_t first,
                                  struct line_shift shift, const size_t words_of_one) {
#ifdef __AVX2__
    const __m256i odd = _mm256_set1_epi64x(words_of_one == 2 ? -(INT64_C(1) << 32) : 0);
    const __m256i places = _mm256_or_si256(_mm256_set1_epi32((int)shift.places), odd);
    const __m256i row = _mm256_andnot_si256(odd, _mm256_set1_epi32((int)shift.row));
    const __m256i size = _mm256_andnot_si256(odd, _mm256_set1_epi32((int)shift.size));
    const __m256i index =
        _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i low = _mm256_loadu_si256((const __m256i *)words);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(words + 8));
    const __m256i of_high = _mm256_slli_epi32(index, 28); // the top bit says whether the word is in `high`
    const __m256i eight = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)), _mm256_castsi256_ps(of_high)));
    const __m256i ahead = _mm256_add_epi32(_mm256_and_si256(eight, places), row);
    __m256i cells = _mm256_min_epu32(ahead, _mm256_sub_epi32(ahead, size));
    if (shift.classes != 0)
        cells = _mm256_or_si256(cells, _mm256_and_si256(eight, _mm256_set1_epi32((int)shift.classes)));
    _mm256_storeu_si256((__m256i *)out, cells);
#else
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t word = words[(first + k) % line_words];
        const uint32_t ahead = (word & shift.places) + shift.row, wrapped = ahead - shift.size;
        const uint32_t cell = (wrapped < ahead ? wrapped : ahead) | (word & shift.classes);
        out[k] = words_of_one == 2 && k % 2 ? word : cell;
    }
#endif
}

/// Writes up to 16 words to `out`, as line_put_eight() does.
ALWAYS_INLINE void line_put(uint32_t *out, const uint32_t *words, struct line_span span,
                            struct line_shift shift, const size_t words_of_one) {
    line_put_eight(out, words, span.first, shift, words_of_one);
    if (span.count > 8) line_put_eight(out + 8, words, span.first + 8, shift, words_of_one);
}
