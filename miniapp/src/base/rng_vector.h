/// \file
/// The random numbers of base/rng.h, eight draws at a time in the elements of vectors.
///
/// An element holds a 32-bit word of the counter in the low half of 64 bits; the high half is never read, so
/// a round of Philox is two multiplications, two shifts and four exclusive-ors for all elements. The tests
/// compare every word with Random123's.

#pragma once

#include "base/rng.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { rng_elements = 8 };

typedef uint64_t rng_vector __attribute__((vector_size(32)));

/// Multiplies the low halves of the elements by `factor`. (The vectors are passed by pointer, since without
/// AVX there is no such register.)
static inline void rng_multiply(const rng_vector *x, uint64_t factor, rng_vector *product) {
#ifdef __AVX2__
    *product = (rng_vector)_mm256_mul_epu32((__m256i)*x, _mm256_set1_epi64x((long long)factor));
#else
    *product = (*x & 0xffffffffu) * factor;
#endif
}

enum { rng_vectors = 2, rng_width = rng_elements / rng_vectors };

/// Sets all elements to a value.
static inline void rng_fill(uint32_t value, rng_vector x[rng_vectors]) {
    for (int v = 0; v < rng_vectors; v++) x[v] = (rng_vector){value, value, value, value};
}

/// Sets the elements to first, first + stride, first + 2 stride, ...
static inline void rng_count(uint32_t first, uint32_t stride, rng_vector x[rng_vectors]) {
    for (uint32_t v = 0; v < rng_vectors; v++) {
        const uint32_t at = first + v * rng_width * stride;
        x[v] = (rng_vector){at, (uint32_t)(at + stride), (uint32_t)(at + 2 * stride),
                            (uint32_t)(at + 3 * stride)};
    }
}

/// Applies Philox4x32-10 to the counters x[word][vector] in place. The high halves are undefined afterwards.
static inline void rng_philox(uint64_t seed, rng_vector x[4][rng_vectors]) {
    uint64_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < philox4x32_rounds; round++) {
        for (int v = 0; v < rng_vectors; v++) {
            rng_vector first_product, second_product;
            rng_multiply(&x[0][v], PHILOX_M4x32_0, &first_product);
            rng_multiply(&x[2][v], PHILOX_M4x32_1, &second_product);
            x[0][v] = (second_product >> 32) ^ x[1][v] ^ key[0];
            x[1][v] = second_product;
            x[2][v] = (first_product >> 32) ^ x[3][v] ^ key[1];
            x[3][v] = first_product;
        }
        key[0] = (uint32_t)(key[0] + PHILOX_W32_0);
        key[1] = (uint32_t)(key[1] + PHILOX_W32_1);
    }
}

/// Draws numbers first, first + 1, ... first + rng_elements - 1. word[w][i] is word w of draw i, as
/// rng_draw() gives it. Words that the caller does not read cost nothing.
static inline void rng_draw_vector(uint64_t seed, enum rng_purpose purpose, uint32_t group, uint32_t neuron,
                                   uint32_t first, uint32_t word[4][rng_elements]) {
    rng_vector x[4][rng_vectors];
    rng_count(first, 1, x[0]);
    rng_fill(neuron, x[1]);
    rng_fill(group, x[2]);
    rng_fill(purpose, x[3]);
    rng_philox(seed, x);
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < rng_elements; i++) word[w][i] = (uint32_t)x[w][i / rng_width][i % rng_width];
}

/// Draws number `number` for each of the neurons first, first + stride, ... word[w * pitch + i] is word w of
/// the i-th neuron.
static inline void rng_draw_neurons(uint64_t seed, enum rng_purpose purpose, uint32_t group, uint32_t first,
                                    uint32_t stride, uint32_t number, uint32_t *word, size_t pitch) {
    rng_vector x[4][rng_vectors];
    rng_fill(number, x[0]);
    rng_count(first, stride, x[1]);
    rng_fill(group, x[2]);
    rng_fill(purpose, x[3]);
    rng_philox(seed, x);
    for (size_t w = 0; w < 4; w++)
        for (size_t i = 0; i < rng_elements; i++)
            word[w * pitch + i] = (uint32_t)x[w][i / rng_width][i % rng_width];
}
