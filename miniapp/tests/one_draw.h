/// \file
/// Draws one at a time, as the mini-app draws many with vectors: a synapse, a number of events. Tests compare
/// both.

#pragma once

#include "description/network_draw.h"
#include "description/poisson.h"

/// A synapse as it is drawn.
struct synapse {
    uint32_t source;      ///< id
    uint32_t delay;       ///< steps
    uint32_t weight_word; ///< draws the weight: weights_draw(), weights_draw_units()
};

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

/// Returns the number of events that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t poisson_draw(const struct poisson *poisson, uint32_t word) {
    uint32_t events = poisson->always;
    for (uint32_t k = 0; k < poisson->n; k++) events += word < poisson->at_least[k];
    return events;
}
