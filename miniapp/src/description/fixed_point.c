/// \file
/// Finds the unit of the weights and expresses all weights in it.
///
/// largest_input() bounds what a neuron can receive in a step. narrow_unit() looks for a unit of which all
/// weights are multiples and with which the input from synapses fits 16 bits. Where there is none, the unit
/// is a power of two with which all input fits 32 bits, and check_weight() refuses weights that would be too
/// coarse in it.
///
/// Cost: weights x the parts that narrow_unit() tries; once, before anything is built.

#include "description/fixed_point.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Parts of the smallest weight that are tried as a unit. Weights of a description are decimal fractions such
/// as 0.15 and -0.75, for which few are enough; with 64, ratios of weights may have denominators up to 64.
/// Where more would be needed, 16 bits would hardly be enough. Chosen, not tuned.
enum { most_parts = 64 };

/// How far a weight may lie from a multiple of the unit, as a part of it: the rounding of decimal fractions.
static const double hair = 1e-9;

/// Units that the smallest weight must have where input is summed in 32 bits: then it is rounded by at most a
/// 32nd part, 3 %.
enum { fewest_units = 16 };

/// Bits of a sum of inputs in 32 bits: one is the sign, and one is left over for the rounding of weights.
enum { sum_bits = 30 };

/// Projections without synapses have no say in the unit of the weights.
static bool has_synapses(const struct network *network, uint32_t projection) {
    const struct projection *p = &network->projections[projection];
    return p->indegree.most > 0 && network->populations[p->target].size > 0;
}

/// Populations without neurons, or without input from outside, have none either.
static bool has_external(const struct population *population) {
    return population->size > 0 && population->external.mean > 0;
}

/// Finds the largest input of a neuron in a step: from its sources, if all of them fire at once, and in all.
/// \return the population of the neuron with the most in all.
static uint32_t largest_input(const struct network *network, double *synapses, double *all) {
    uint32_t most = 0;
    double *sum = ALLOC_ZERO(double, network->n_populations);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        if (!has_synapses(network, i)) continue;
        // Every source fires at once, with the largest weight that it can have.
        sum[p->target] += weights_largest(&p->weights) * p->indegree.most;
    }
    *synapses = *all = 0;
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const struct external *external = &network->populations[p].external;
        *synapses = fmax(*synapses, sum[p]);
        if (has_external(&network->populations[p])) sum[p] += fabs(external->weight) * external->most;
        if (sum[p] > *all) most = p;
        *all = fmax(*all, sum[p]);
    }
    free(sum);
    return most;
}

/// Returns every weight that can become input, [*n]; the caller frees it.
static double *all_weights(const struct network *network, size_t *n) {
    size_t most = network->n_populations;
    for (uint32_t i = 0; i < network->n_projections; i++) most += network->projections[i].weights.classes;
    double *all = ALLOC(double, most);
    *n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct weights *weights = &network->projections[i].weights;
        for (uint32_t k = 0; has_synapses(network, i) && k < weights->classes; k++)
            all[(*n)++] = weights->weight[k];
    }
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (has_external(&network->populations[p])) all[(*n)++] = network->populations[p].external.weight;
    return all;
}

/// Returns a unit of which all weights are multiples, up to the rounding of decimal fractions, such that
/// input from synapses stays within 16 bits and all input within 32; 0 if there is none.
static double narrow_unit(const struct network *network, double synapses, double all) {
    size_t n, good = 0;
    double smallest = INFINITY, unit = 0;
    // Weights that each synapse draws are no multiples of anything.
    if (network->normal) return 0;
    if (all == 0) return 1;
    double *weight = all_weights(network, &n);
    for (size_t i = 0; i < n; i++)
        if (weight[i] != 0) smallest = fmin(smallest, fabs(weight[i]));
    // Try the smallest weight, half of it, a third of it, ... as the unit, until all weights are multiples.
    for (int part = 1; good < n || part == 1; part++) {
        unit = smallest / part;
        if (part > most_parts || !(synapses / unit <= INT16_MAX) || !(all / unit <= INT32_MAX)) break;
        // Stops at the first weight that is no multiple.
        for (good = 0; good < n; good++)
            if (!(fabs(weight[good] / unit - nearbyint(weight[good] / unit)) <= hair)) break;
    }
    free(weight);
    return good == n ? unit : 0;
}

/// Refuses a weight that has too few units to be told from others.
static bool check_weight(const struct network *network, const char *path, const char *list, uint32_t i,
                         const char *field, double weight, double largest, uint32_t most,
                         struct error *error) {
    if (network->narrow_input || weight == 0 ||
        fabs(nearbyint(weight / network->weight_unit)) >= fewest_units)
        return true;
    return error_set(
        error,
        "%s%s.%u.%s: %.10g; expected 0 or at least %.3g in magnitude, since the input of a neuron, "
        "up to %.3g (in population %s), is summed in 32-bit fixed point",
        path, list, i, field, weight, fewest_units * network->weight_unit, largest,
        network->populations[most].name);
}

bool fixed_point_choose(struct network *network, const struct fields *fields, struct error *error) {
    double synapses, all;
    for (uint32_t i = 0; i < network->n_projections; i++)
        if (has_synapses(network, i) && network->projections[i].weights.classes == 0 && !network->normal)
            network->normal = normal_open();
    // How large input can get, which the unit has to allow for.
    const uint32_t most = largest_input(network, &synapses, &all);
    const double unit = narrow_unit(network, synapses, all);
    network->narrow_input = unit > 0;
    // Without a common unit, the largest power of two that leaves room for it in 32 bits.
    network->weight_unit = unit > 0 ? unit : exp2(ceil(log2(all)) - sum_bits);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        struct weights *weights = &network->projections[i].weights;
        if (!has_synapses(network, i)) continue;
        if (!check_weight(network, fields->path, "projections", i, "weight", weights->mean, all, most, error))
            return false;
        weights_set_unit(weights, network->weight_unit);
    }
    for (uint32_t p = 0; p < network->n_populations; p++) {
        struct external *external = &network->populations[p].external;
        if (!has_external(&network->populations[p])) continue;
        if (!check_weight(network, fields->path, "populations", p, "external.weight", external->weight, all,
                          most, error))
            return false;
        external->weight_units = (int32_t)nearbyint(external->weight / network->weight_unit);
    }
    return true;
}
