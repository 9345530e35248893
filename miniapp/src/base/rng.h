/// \file
/// Random numbers that depend on what is drawn, never on who draws it or when.
///
/// The generator is Philox4x32-10 (Salmon et al. 2011) as Random123 implements it: a bijection of a 128-bit
/// counter under a 64-bit key. The key is the seed. The counter is made of what identifies the draw: neuron
/// id, number of the synapse, population or projection, and purpose. So every rank and thread draws the same
/// network, and a neuron gets the same synapses, rate and input from outside on any number of ranks and
/// threads and in any placement. No state has to be kept, and nothing is sent: whoever needs a number draws
/// it again. Cost: ten rounds of two multiplications for four words.

#pragma once

#include <Random123/philox.h>
#include <math.h>
#include <stdint.h>

/// The purpose of a draw. A new purpose gets a new value at the end.
enum rng_purpose { rng_synapse, rng_neuron, rng_inject, rng_external, rng_indegree, rng_dry_run };

/// What one draw gives: four words of 32 uniform bits.
struct rng_words {
    uint32_t word[4];
};

/// Draws what `purpose`, `group`, `neuron` and `number` identify, under a seed. Equal arguments give equal
/// words.
static inline struct rng_words rng_draw(uint64_t seed, enum rng_purpose purpose, uint32_t group,
                                        uint32_t neuron, uint32_t number) {
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {{number, neuron, group, (uint32_t)purpose}};
    philox4x32_ctr_t drawn = philox4x32(counter, key);
    return (struct rng_words){{drawn.v[0], drawn.v[1], drawn.v[2], drawn.v[3]}};
}

/// Returns a whole number in [0, bound), uniform up to bound / 2^64.
static inline uint32_t rng_below(uint32_t high, uint32_t low, uint32_t bound) {
    // The upper 32 bits of the 96-bit product of the two words and the bound.
    uint64_t upper = (uint64_t)high * bound, lower = (uint64_t)low * bound;
    return (uint32_t)((upper + (lower >> 32)) >> 32);
}

/// Returns a number in (0, 1): a multiple of 2^-32, shifted by half a step.
static inline double rng_uniform(uint32_t word) {
    return (word + 0.5) * (1.0 / 4294967296.0);
}

/// Returns a standard normal number made of two words (Box and Muller 1958).
static inline double rng_normal(uint32_t first, uint32_t second) {
    return sqrt(-2.0 * log(rng_uniform(first))) * cos(6.283185307179586 * rng_uniform(second));
}
