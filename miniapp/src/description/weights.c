/// \file
/// Cuts a normal distribution of weights into classes, or limits it, and reads the field of a projection.
///
/// With classes, slice() computes what each of K slices of equal probability weighs on the mean, from the
/// density at the edges of the slice, and scales the deviations so that the variance is that of the
/// distribution (weights.h says why). spread_classes() turns them into weights. Without classes, limit()
/// finds how far a weight may lie from the mean, so that no sign changes.
///
/// With classes, a synapse holds a number of a few bits, where an own weight needs a second word. Weights are
/// expressed in the unit of the network later, by weights_set_unit(), when all projections are known.

#include "description/weights.h"

#include "base/alloc.h"
#include "description/field_table.h"
#include <stddef.h>

/// Computes the means of the slices of the standard normal distribution, scaled to variance 1. They are
/// symmetric.
static void slice(double *mean, uint32_t classes) {
    double below = 0, squares = 0; // density at the lower edge of the slice
    for (uint32_t k = 0; k < classes / 2; k++) {
        // The mean of a slice of the normal distribution is the difference of the density at its edges, over
        // 1 / K.
        double edge = normal_quantile((k + 1.0) / classes);
        double density = exp(-0.5 * edge * edge) / sqrt(2 * M_PI);
        mean[k] = classes * (below - density);
        squares += 2 * mean[k] * mean[k] / classes;
        below = density;
    }
    for (uint32_t k = 0; k < classes / 2; k++) {
        mean[k] /= sqrt(squares);
        mean[classes - 1 - k] = -mean[k];
    }
    if (classes % 2 == 1) mean[classes / 2] = 0;
}

/// Gives each class its weight. Fails where one would change its sign: an excitatory synapse must not become
/// an inhibitory one.
static bool spread_classes(struct weights *weights, const struct fields *fields, struct error *error) {
    weights->weight = ALLOC_ZERO(double, weights->classes);
    if (weights->classes > 1) slice(weights->weight, weights->classes);
    const double furthest = -weights->weight[0];
    weights->furthest = weights->sd * furthest;
    if (weights->furthest > fabs(weights->mean))
        return error_set(
            error,
            "%ssd: %.10g; expected at most %.10g with a mean of %.10g and %u classes, so that no "
            "weight changes its sign",
            fields->path, weights->sd, fabs(weights->mean) / furthest, weights->mean, weights->classes);
    for (uint32_t k = 0; k < weights->classes; k++)
        weights->weight[k] = weights->mean + weights->sd * weights->weight[k];
    return true;
}

/// Limits the distribution so that no weight changes its sign, but not by so much that its sd would be
/// another.
static bool limit(struct weights *weights, const struct fields *fields, struct error *error) {
    const double most = fabs(weights->mean) / 3;
    if (weights->sd > most)
        return error_set(error,
                         "%ssd: %.10g; expected at most %.10g, a third of the mean, since without classes "
                         "weights are redrawn that change their sign",
                         fields->path, weights->sd, most);
    weights->furthest = fmin(fabs(weights->mean), normal_furthest * weights->sd);
    if (weights->furthest < normal_furthest * weights->sd)
        weights->tail = ldexp(erfc(weights->furthest / weights->sd * M_SQRT1_2), 31);
    return true;
}

/// The fields of a weight that is an object.
struct given_weight {
    double mean, sd, classes;
};

static const struct field of_weight[] = {
    NUMBER("mean", offsetof(struct given_weight, mean), REQUIRED, -1e12, 1e12),
    NUMBER("sd", offsetof(struct given_weight, sd), 0, 0, 1e12),
    INTEGER("classes", offsetof(struct given_weight, classes), weight_classes_default, 0,
            weight_classes_max)};
const struct field_table table_of_weight = FIELD_TABLE("network.projections.*.weight.", of_weight);

/// Reads a weight that is an object.
static bool read_distribution(struct weights *weights, const struct fields *projection, struct error *error) {
    struct given_weight given;
    struct fields fields;
    if (!fields_enter(projection, "weight", true, &fields, error) ||
        !fields_read(&fields, &table_of_weight, &given, error))
        return false;
    // Without spread, one class is enough whatever was asked for.
    weights->mean = given.mean;
    weights->sd = given.sd;
    if (given.classes == 1)
        return error_set(error, "%sclasses: 1; expected 0, or an integer from 2 to %d", fields.path,
                         weight_classes_max);
    weights->classes = weights->sd > 0 ? (uint32_t)given.classes : 1;
    return weights->classes > 0 ? spread_classes(weights, &fields, error) : limit(weights, &fields, error);
}

bool weights_read(struct weights *weights, const struct fields *projection, struct error *error) {
    *weights = (struct weights){.classes = 1};
    if (json_is_object(json_object_get(projection->object, "weight"))) {
        if (!read_distribution(weights, projection, error)) return false;
    } else {
        weights->mean = json_number_value(json_object_get(projection->object, "weight"));
        weights->weight = ALLOC(double, 1);
        weights->weight[0] = weights->mean;
    }
    weights->units = ALLOC_ZERO(int32_t, weights->classes);
    if (weights->mean != 0 && fabs(weights->mean) < 1e-100)
        return fields_refuse(projection, "weight", "0, or a number from 1e-100 to 1e12 in magnitude", error);
    return true;
}

void weights_set_unit(struct weights *weights, double unit) {
    weights->unit = unit;
    for (uint32_t k = 0; k < weights->classes; k++)
        weights->units[k] = (int32_t)nearbyint(weights->weight[k] / unit);
}

void weights_close(struct weights *weights) {
    FREE(weights->weight, weights->units);
}
