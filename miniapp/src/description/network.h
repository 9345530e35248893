/// \file
/// The network: populations of neurons, and projections that say what the k-th synapse of a neuron is.
///
/// No synapse is stored here. network_draw() computes any of them from the seed, the projection, the
/// target and k. So every rank and thread can build its own share, and a test can build the whole by brute
/// force.
///
/// Each synapse is one draw of four words, which projection, target and k identify: two words choose the
/// source, uniformly from the pool (so a pair of neurons may have several synapses, and one synapse may lead
/// from a neuron to itself), the third the delay, the fourth the weight.

#pragma once

#include "description/delay.h"
#include "description/indegree.h"
#include "description/weights.h"

/// Events from outside. Every neuron of a population receives them as a Poisson process of its own.
struct external {
    double mean;          ///< events per neuron and step, of all sources together; 0: none
    double weight;        ///< of an event, in the unit of the model: pA or mV
    uint32_t most;        ///< events that a neuron can get in a step, at most 255
    int32_t weight_units; ///< weight as a multiple of network.weight_unit
};

/// Neurons of one area that share a model; their ids are first, first + 1, ...
struct population {
    const char *name;         ///< borrowed from the description's JSON, as all strings here
    const char *area_name;    ///< the population's own name where the description names no area
    const char *model;        ///< name; looked up where models are known (neuron/model.h)
    struct fields neuron;     ///< the JSON object "neuron", for the model to read its parameters from
    uint32_t area;            ///< number of the area, in order of first appearance
    uint32_t first;           ///< id of its first neuron
    uint32_t size;            ///< neurons; may be 0
    struct external external; ///< input from outside the network
};

/// A run of consecutive ids in a projection's pool of sources.
struct source_range {
    uint32_t first; ///< id
    uint32_t end;   ///< position in the pool after the last of the range
    uint32_t begin; ///< position in the pool of the first
};

/// Synapses from a pool of sources to the neurons of one population.
struct projection {
    uint32_t target;             ///< number of the population
    struct indegree indegree;    ///< synapses of each target neuron
    uint32_t pool;               ///< neurons in the sources together
    uint32_t *sources;           ///< [n_sources] numbers of the populations in it that are not empty; owned
    struct source_range *ranges; ///< [n_ranges] the pool as ranges of ids, in its order; owned
    uint32_t n_sources;          ///< populations in the pool
    uint32_t n_ranges;           ///< neighbouring populations make one range
    struct weights weights;      ///< of its synapses
    struct delay delay;          ///< of its synapses, in steps
};

/// All populations and projections, and what follows from them. The same on all ranks.
struct network {
    uint64_t seed;                  ///< of all random numbers
    struct population *populations; ///< [n_populations] owned, in the order of their ids
    struct projection *projections; ///< [n_projections] owned
    uint32_t n_populations;         ///< empty ones included
    uint32_t n_projections;         ///< those without synapses included
    uint32_t n_areas;               ///< of all populations
    uint32_t n_neurons;             ///< at most 4e9; ids are 0 ... n_neurons - 1
    json_t *population_numbers;     ///< {name: number} owned
    json_t *area_numbers;           ///< {name: number} owned
    uint32_t longest_delay;         ///< steps, 0 without projections
    struct normal *normal;          ///< for weights without classes; owned; NULL if all have classes
    double weight_unit;             ///< weights are multiples of it, in the unit of the models: pA or mV
    bool narrow_input; ///< no neuron's input from synapses can overflow 16 bits, else none can overflow 32
};

/// Returns the population of neuron `gid`, which it finds by bisection.
uint32_t network_population(const struct network *network, uint32_t gid);

/// Returns the area of neuron `gid`.
static inline uint32_t network_area(const struct network *network, uint32_t gid) {
    return network->populations[network_population(network, gid)].area;
}

/// Returns the number of synapses of all neurons. Where in-degrees are random, it is the expected number.
uint64_t network_synapses(const struct network *network);
