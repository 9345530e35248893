/// \file
/// Draws synapses (description/network.h says by which numbers): how many a neuron has, and what the k-th of
/// them is. Whoever owns a neuron draws its incoming synapses, and may draw them again at any time.
///
/// network_synapse() draws one, for tests and for readers; network_draw() draws up to 64 of them with
/// vectors, and is what building uses. Both give the same words. Cost: a draw of four words for each synapse;
/// no memory.

#pragma once

#include "base/rng.h"
#include "description/network.h"

/// A synapse as it is drawn.
struct synapse {
    uint32_t source;      ///< id
    uint32_t delay;       ///< steps
    uint32_t weight_word; ///< draws the weight: weights_draw(), weights_draw_units()
};

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

/// Returns the k-th synapse (k < network_indegree()) of projection number `number` on the neuron `target`.
static inline struct synapse network_synapse(const struct network *network, uint32_t number, uint32_t target,
                                             uint32_t k) {
    const struct projection *projection = &network->projections[number];
    struct rng_words drawn = rng_draw(network->seed, rng_synapse, number, target, k);
    uint32_t position = rng_below(drawn.word[0], drawn.word[1], projection->pool);
    return (struct synapse){.source = projection_source(projection, position),
                            .delay = delay_draw(&projection->delay, drawn.word[2]),
                            .weight_word = drawn.word[3]};
}

/// Draws the synapses k = first, first + 1, ... first + n - 1 (n at most network_batch) of projection number
/// `number` on `target`. They are those of network_synapse(), at a fraction of its cost. `delay` and
/// `weight_word` may be NULL.
enum { network_batch = 64 };
void network_draw(const struct network *network, uint32_t number, uint32_t target, uint32_t first, uint32_t n,
                  uint32_t source[network_batch], uint32_t *delay, uint32_t *weight_word);
