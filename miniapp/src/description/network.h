/// \file
/// The network: populations of neurons, and projections that say what the k-th synapse of a neuron is.
///
/// No synapse is stored here. description/draw.h computes any of them from the seed, the projection, the
/// target and k. So every rank and thread can build its own share, and a test can build the whole by brute
/// force.

#ifndef DESCRIPTION_NETWORK_H
#define DESCRIPTION_NETWORK_H

#include "base/rng.h"
#include "description/delay.h"
#include "description/indegree.h"
#include "description/json_fields.h"
#include "description/weights.h"

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

/// Returns the area of neuron `gid`.
static inline uint32_t network_area(const struct network *network, uint32_t gid) {
    return network->populations[network_population(network, gid)].area;
}

/// Returns the number of synapses of all neurons. Where in-degrees are random, it is the expected number.
uint64_t network_synapses(const struct network *network);

#endif
