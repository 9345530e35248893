/// \file
/// Answers about a network: to which population a neuron belongs, and how many synapses there are.

#include "description/network.h"

#include <math.h>

uint32_t network_population(const struct network *network, uint32_t gid) {
    // Populations ascend by id, so bisection finds one in log2(populations) steps.
    uint32_t low = 0, high = network->n_populations;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (network->populations[middle].first <= gid)
            low = middle;
        else
            high = middle;
    }
    return low; // the last population that starts at or before gid, so never an empty one
}

uint64_t network_synapses(const struct network *network) {
    // A double counts exactly up to 2^53, far beyond what any machine holds.
    double n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *projection = &network->projections[i];
        n += projection->indegree.mean * network->populations[projection->target].size;
    }
    return (uint64_t)nearbyint(n);
}
