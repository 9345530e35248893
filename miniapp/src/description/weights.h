/// \file
/// The weights of the synapses of a projection: one weight, classes that stand for a normal distribution,
/// or a normal distribution itself.
///
/// With classes, a synapse holds the number of its class and not a weight. K classes cut the normal
/// distribution into K slices of equal probability. Each class weighs what its slice weighs on average; the
/// deviations from the mean are then scaled so that the standard deviation is that of the distribution as
/// well. The mean and the variance of the input are thus exact. What the classes lack are the far tails (with
/// 32 classes, beyond 2.1 sd).
///
/// Without classes, every synapse has a weight of its own, which takes a second word. It is drawn from the
/// normal distribution within `furthest` of the mean, which keeps the mean and the sign.
///
/// Weights are given in pA or mV and become whole numbers of a unit of the network
/// (description/fixed_point.h).

#pragma once

#include "description/field_table.h"
#include "description/fields.h"
#include "description/normal.h"

extern const struct field_table table_of_weight; ///< the fields of network.projections.*.weight

/// Classes of a distribution where the description does not say how many, and the most there may be. 32 take
/// five bits of a synapse; the most take twelve, which leave 20 for its target and delay.
enum { weight_classes_default = 32, weight_classes_max = 4096 };

/// The distribution of weights of a projection.
struct weights {
    uint32_t classes; ///< 0: every synapse has a weight of its own
    double mean;      ///< in the unit of the target's model, as `sd`, `furthest`, and `weight`
    double sd;        ///< before the limit to `furthest`
    double furthest;  ///< largest deviation from the mean
    double tail;      ///< without classes: what lies further away on one side, in 2^-32
    double *weight;   ///< [classes] owned; NULL without classes
    double unit;      ///< network.weight_unit, in pA or mV; 0 until weights_set_unit()
    int32_t *units;   ///< [classes] weights as multiples of it; owned
};

/// Reads the checked field "weight" of a projection: a number, or {mean, sd, classes}. Fails where a weight
/// would change its sign. Free with weights_close(), also after a failure.
bool weights_read(struct weights *weights, const struct fields *projection, struct error *error);
void weights_close(struct weights *weights);

/// Expresses the weights of all classes in `unit`, rounded.
void weights_set_unit(struct weights *weights, double unit);

/// Returns the largest magnitude that a weight can have.
static inline double weights_largest(const struct weights *weights) {
    return fabs(weights->mean) + weights->furthest;
}

/// Returns the class that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t weights_draw(const struct weights *weights, uint32_t word) {
    return (uint32_t)(((uint64_t)word * weights->classes) >> 32);
}

/// Returns the weight, in units, that `word` draws. `normal` is needed for weights without classes.
static inline int32_t weights_draw_units(const struct weights *weights, const struct normal *normal,
                                         uint32_t word) {
    if (weights->classes > 0) return weights->units[weights_draw(weights, word)];
    // The top bit of the word chooses the side; the other 31 are a tail between weights->tail and 2^31, which
    // is the tail beyond the mean.
    const double half = 2147483648.0;
    const double tail = weights->tail + ((word & INT32_MAX) + 0.5) * ((half - weights->tail) / half);
    double deviation = weights->sd * normal_deviation(normal, tail);
    if (deviation > weights->furthest) deviation = weights->furthest;
    const double units = (weights->mean + (word >> 31 ? deviation : -deviation)) / weights->unit;
    // Rounded to the nearest. It fits: the unit was chosen such that the sum of all weights does.
    return (int32_t)(units + (units < 0 ? -0.5 : 0.5));
}
