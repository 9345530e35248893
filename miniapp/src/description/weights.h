/// \file
/// The weights of the synapses of a projection: one weight, classes that stand for a normal distribution, or
/// a normal distribution itself.
///
/// With classes, a synapse holds the number of its class and not a weight. K classes cut the normal
/// distribution into K slices of equal probability. Each class weighs what its slice weighs on average; the
/// deviations from the mean are then scaled so that the standard deviation is that of the distribution as
/// well. The mean and the variance of the input are thus exact. What the classes lack are the far tails (with
/// 32 classes, beyond 2.1 sd).
///
/// Without classes, every synapse has a weight of its own. It is drawn from the normal distribution within
/// `furthest` of the mean, which keeps the mean and the sign.

#ifndef DESCRIPTION_WEIGHTS_H
#define DESCRIPTION_WEIGHTS_H

#include "description/json_fields.h"
#include "description/normal.h"
#include <math.h>

enum { weight_classes_default = 32, weight_classes_max = 4096 };

struct weights {
    uint32_t classes; ///< 0: every synapse has a weight of its own
    double mean;      ///< in the unit of the target's model, as `sd`, `furthest`, and `weight`
    double sd;        ///< before the limit to `furthest`
    double furthest;  ///< largest deviation from the mean
    double tail;      ///< without classes: what lies further away on one side, in 2^-32
    double *weight;   ///< [classes]
    double unit;      ///< network.weight_unit
    int32_t *units;   ///< [classes] as multiples of it
};

/// Reads the field "weight" of a projection: a number, or {mean, sd, classes}. Free with weights_close().
bool weights_read(struct weights *weights, const struct fields *projection, struct error *error);
void weights_close(struct weights *weights);

/// Expresses the weights in `unit`, network.weight_unit.
void weights_set_unit(struct weights *weights, double unit);

/// Returns the magnitude of the largest weight.
static inline double weights_largest(const struct weights *weights) {
    return fabs(weights->mean) + weights->furthest;
}

/// Returns the class that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t weights_draw(const struct weights *weights, uint32_t word) {
    return (uint32_t)(((uint64_t)word * weights->classes) >> 32);
}

/// Returns the weight, in units, that `word` draws where there are no classes.
static inline int32_t weights_draw_own(const struct weights *weights, const struct normal *normal,
                                       uint32_t word) {
    const double half = 2147483648.0; // 2^31 is the tail beyond the mean
    const double tail = weights->tail + ((word & INT32_MAX) + 0.5) * ((half - weights->tail) / half);
    double deviation = weights->sd * normal_deviation(normal, tail);
    if (deviation > weights->furthest) deviation = weights->furthest;
    const double units = (weights->mean + (word >> 31 ? deviation : -deviation)) / weights->unit;
    return (int32_t)(units + (units < 0 ? -0.5 : 0.5));
}

/// Returns the weight, in units, that `word` draws. `normal` is needed for weights without classes.
static inline int32_t weights_draw_units(const struct weights *weights, const struct normal *normal,
                                         uint32_t word) {
    if (weights->classes > 0) return weights->units[weights_draw(weights, word)];
    return weights_draw_own(weights, normal, word);
}

#endif
