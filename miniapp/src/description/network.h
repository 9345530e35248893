/// \file
/// The network: populations of neurons, and projections that say what the k-th synapse of a neuron is.
///
/// No synapse is stored here. network_synapse() computes any of them from the seed, the projection, the
/// target and k. So every rank and thread can build its own share, and a test can build the whole by brute
/// force.

#pragma once

#include "base/rng.h"
#include "description/distributions.h"

/// Events from outside. Every neuron of a population receives them as a Poisson process of its own.
struct external {
    double mean; ///< events per neuron and step; 0: none
    double weight;
    uint32_t most;        ///< events in a step
    int32_t weight_units; ///< weight as a multiple of network.weight_unit
};

/// Neurons of one area that share a model; their ids are first, first + 1, ...
struct population {
    const char *name; ///< borrowed from the description's JSON, as all strings here
    const char *area_name;
    const char *model;    ///< name; looked up where models are known
    struct fields neuron; ///< the JSON object "neuron", for the model to read its parameters from
    uint32_t area;        ///< number of the area, in order of first appearance
    uint32_t first, size;
    struct external external;
};

/// A run of consecutive ids in a projection's pool of sources.
struct source_range {
    uint32_t first; ///< id
    uint32_t end;   ///< position in the pool after the last of the range
    uint32_t begin; ///< position in the pool of the first
};

struct projection {
    uint32_t target; ///< number of the population
    struct indegree indegree;
    uint32_t pool;     ///< neurons in the sources together
    uint32_t *sources; ///< [n_sources] numbers of the populations in it that are not empty
    struct source_range *ranges;
    uint32_t n_sources, n_ranges;
    struct weights weights;
    struct delay delay;
};

struct network {
    uint64_t seed;
    struct population *populations;
    struct projection *projections;
    uint32_t n_populations, n_projections, n_areas, n_neurons;
    json_t *population_numbers, *area_numbers; ///< by name
    uint32_t longest_delay;                    ///< steps, 0 without projections
    struct normal *normal;                     ///< for weights without classes; NULL if all have classes
    double weight_unit; ///< weights are multiples of it, in the unit of the models: pA or mV
    bool narrow_input;  ///< no neuron's input from synapses can overflow 16 bits, else none can overflow 32
};

/// Reads the object "network" of `run`. The strings and JSON of `run` must outlive the network.
bool network_open(struct network *network, const struct fields *run, uint64_t seed, double resolution_ms,
                  struct error *error);

void network_close(struct network *network);

/// Returns the population of neuron `gid`, which it finds by bisection.
uint32_t network_population(const struct network *network, uint32_t gid);

static inline uint32_t network_area(const struct network *network, uint32_t gid) {
    return network->populations[network_population(network, gid)].area;
}

/// Returns the number of synapses of all neurons. Where in-degrees are random, it is the expected number.
uint64_t network_synapses(const struct network *network);

// -------------------- draw
// How many synapses a neuron has and what the k-th of them is follow from the seed, the projection, the
// neuron and k alone.

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
