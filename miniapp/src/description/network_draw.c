/// \file
/// Draws the synapses of a neuron, eight side by side. Cost: one draw of Philox for each synapse, and a few
/// comparisons to find its source and its delay. Nothing is allocated.

#include "description/network_draw.h"

#include "base/rng_vector.h"
#include <string.h>

void network_draw(const struct network *network, uint32_t number, uint32_t target, uint32_t first, uint32_t n,
                  uint32_t source[network_batch], uint32_t *delay, uint32_t *weight_word) {
    const struct projection *projection = &network->projections[number];
    uint32_t delay_word[network_batch];
    for (uint32_t k = 0; k < n; k += rng_elements) {
        uint32_t word[4][rng_elements];
        // Four words for each synapse: two for its source, one for its delay, one for its weight.
        rng_draw_vector(network->seed, rng_synapse, number, target, first + k, word);
        for (uint32_t i = 0; i < rng_elements; i++)
            source[k + i] = rng_below(word[0][i], word[1][i], projection->pool);
        memcpy(delay_word + k, word[2], sizeof word[2]);
        if (weight_word) memcpy(weight_word + k, word[3], sizeof word[3]);
    }
    // From positions in the pool to ids.
    for (uint32_t k = 0; k < n; k++) source[k] = projection_source(projection, source[k]);
    for (uint32_t k = 0; delay && k < n; k++) delay[k] = delay_draw(&projection->delay, delay_word[k]);
}
