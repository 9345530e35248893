/// \file
/// Weights of the synapses of a projection: one, or classes that stand for a normal distribution.
///
/// A synapse holds the number of its class, not a weight. K classes cut the normal distribution into K slices
/// of equal probability; each weighs what its slice weighs on average, and the deviations from the mean are
/// then scaled so that the standard deviation is that of the distribution as well. Mean and variance of the
/// input are thus exact; what the classes lack is the far tails (with 32 classes beyond 2.1 sd).

#ifndef DESCRIPTION_WEIGHTS_H
#define DESCRIPTION_WEIGHTS_H

#include "description/json_fields.h"
#include <stdint.h>

enum { weight_classes_default = 32, weight_classes_max = 4096 };

struct weights {
    uint32_t classes;
    double mean;
    double *weight; ///< [classes] in the unit of the target's model
    int32_t *units; ///< [classes] as multiples of network.weight_unit
};

/// Reads the field "weight" of a projection: a number, or {mean, sd, classes}. Free with weights_close().
bool weights_read(struct weights *weights, const struct fields *projection, struct error *error);
void weights_close(struct weights *weights);

/// The class that `word`, uniform over 32 bits, draws.
static inline uint32_t weights_draw(const struct weights *weights, uint32_t word) {
    return (uint32_t)(((uint64_t)word * weights->classes) >> 32);
}

#endif
