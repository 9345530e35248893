/// \file
/// Draws synapses (description/network.h says by which numbers): how many a neuron has, and what the k-th of
/// them is. Whoever owns a neuron draws its incoming synapses, and may draw them again at any time.
///
/// network_draw() draws up to 64 of them with vectors. One at a time, as tests/one_draw.h has it for readers,
/// they are the same. Cost: a draw of four words for each synapse; no memory.

#pragma once

#include "base/rng.h"
#include "description/network.h"

/// Returns the neuron at `position` in the pool of a projection.
static inline uint32_t projection_source(const struct projection *projection, uint32_t position) {
    const struct source_range *range = projection->ranges;
    while (position >= range->end) range++;
    return range->first + (position - range->begin);
}

/// Returns how many synapses of projection number `number` the neuron `target` receives.
static inline uint32_t network_indegree(const struct network *network, uint32_t number, uint32_t target) {
    const struct indegree *indegree = &network->projections[number].indegree;
    if (!indegree->above) return indegree->most;
    return indegree_draw(indegree, rng_draw(network->seed, rng_indegree, number, target, 0).word[0]);
}

/// Draws the synapses k = first, first + 1, ... first + n - 1 (n at most network_batch) of projection number
/// `number` on `target`: the ids of their sources, their delays in steps, and the words that draw their
/// weights (weights_draw(), weights_draw_units()). `delay` and `weight_word` may be NULL.
enum { network_batch = 64 };
void network_draw(const struct network *network, uint32_t number, uint32_t target, uint32_t first, uint32_t n,
                  uint32_t source[network_batch], uint32_t *delay, uint32_t *weight_word);
