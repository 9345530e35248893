#include "description/fixed_point.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

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

/// Calls `take` with every weight that can become input, and stops at the first for which it returns false.
static bool for_each_weight(const struct network *network, bool (*take)(double weight, double *context),
                            double *context) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct weights *weights = &network->projections[i].weights;
        for (uint32_t k = 0; has_synapses(network, i) && k < weights->classes; k++)
            if (!take(weights->weight[k], context)) return false;
    }
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (has_external(&network->populations[p]) && !take(network->populations[p].external.weight, context))
            return false;
    return true;
}

/// Says whether the weight is a whole multiple of the unit, up to the rounding of decimal fractions.
static bool is_multiple(double weight, double *unit) {
    double units = weight / *unit;
    return fabs(units - nearbyint(units)) <= 1e-9;
}

static bool find_smallest(double weight, double *smallest) {
    if (weight != 0) *smallest = fmin(*smallest, fabs(weight));
    return true;
}

/// Returns a unit of which all weights are multiples, such that input from synapses stays within 16 bits and
/// all input within 32; 0 if there is none.
static double narrow_unit(const struct network *network, double synapses, double all) {
    double smallest = INFINITY;
    if (network->normal) return 0;
    if (all == 0) return 1;
    for_each_weight(network, find_smallest, &smallest);
    for (int part = 1; part <= 64; part++) {
        double unit = smallest / part;
        if (!(synapses / unit <= INT16_MAX) || !(all / unit <= INT32_MAX)) return 0;
        if (for_each_weight(network, is_multiple, &unit)) return unit;
    }
    return 0;
}

/// Says whether `weight` has enough units to be told from others.
static bool fine_enough(const struct network *network, double weight) {
    return network->narrow_input || weight == 0 || fabs(nearbyint(weight / network->weight_unit)) >= 16;
}

static bool refuse_weight(const struct network *network, const char *path, const char *list, uint32_t i,
                          const char *field, double weight, double largest, uint32_t most,
                          struct error *error) {
    return error_set(
        error,
        "%s%s.%u.%s: %.10g; allowed: 0 or at least %.3g in magnitude, since the input of a neuron, "
        "up to %.3g (in population %s), is summed in 32-bit fixed point",
        path, list, i, field, weight, 16 * network->weight_unit, largest, network->populations[most].name);
}

bool fixed_point_choose(struct network *network, const struct fields *fields, struct error *error) {
    double synapses, all;
    for (uint32_t i = 0; i < network->n_projections; i++)
        if (has_synapses(network, i) && network->projections[i].weights.classes == 0 && !network->normal)
            network->normal = normal_open();
    const uint32_t most = largest_input(network, &synapses, &all);
    const double unit = narrow_unit(network, synapses, all);
    network->narrow_input = unit > 0;
    network->weight_unit = unit > 0 ? unit : exp2(ceil(log2(all)) - 30);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        struct weights *weights = &network->projections[i].weights;
        if (!has_synapses(network, i)) continue;
        if (!fine_enough(network, weights->mean))
            return refuse_weight(network, fields->path, "projections", i, "weight", weights->mean, all, most,
                                 error);
        weights_set_unit(weights, network->weight_unit);
    }
    for (uint32_t p = 0; p < network->n_populations; p++) {
        struct external *external = &network->populations[p].external;
        if (!has_external(&network->populations[p])) continue;
        if (!fine_enough(network, external->weight))
            return refuse_weight(network, fields->path, "populations", p, "external.weight", external->weight,
                                 all, most, error);
        external->weight_units = (int32_t)nearbyint(external->weight / network->weight_unit);
    }
    return true;
}
