/// \file
/// Poisson input from outside for the neurons of a block.
///
/// How many events a neuron receives in a step depends on the seed, the population, its id and the step, and
/// on nothing else. One draw of four words serves four steps of a neuron. A block therefore draws for steps
/// 4g to 4g + 3 together and keeps the numbers, one byte each.

#pragma once

#include "description/placement.h"

enum { external_steps = 4 };

struct external_input {
    struct poisson poisson;
    uint64_t seed;
    uint32_t population;
    struct share share;
    int32_t weight_units;
    uint32_t group;  ///< the steps whose numbers are kept, divided by external_steps
    uint8_t *events; ///< [external_steps][share.count]
};

/// Opens the input of the neurons in `share` of a population that has input from outside. Free it with
/// external_close().
struct external_input *external_open(const struct network *network, uint32_t population, struct share share);
void external_close(struct external_input *external);

/// Adds the input of `step` to input[share.count]. \return the number of events.
uint64_t external_add(struct external_input *external, uint32_t step, int32_t *input);

static inline uint64_t external_bytes(const struct external_input *external) {
    return external ? (uint64_t)external->share.count * external_steps : 0;
}
