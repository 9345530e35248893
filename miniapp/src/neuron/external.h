/// \file
/// Poisson input from outside for the neurons of a block.
///
/// How many events a neuron receives in a step depends on the seed, the population, its id and the step, and
/// on nothing else. One draw of four words serves four steps of a neuron. A block therefore draws for steps
/// 4g to 4g + 3 together and keeps the numbers, one byte each.

#pragma once

#include "description/placement.h"
#include "description/poisson.h"

/// Steps that one draw serves: as many as it has words of 32 bits (Philox4x32).
enum { external_steps = 4 };

/// The external input of one block.
struct external_input {
    struct poisson poisson; ///< of the events in a step
    uint64_t seed;          ///< of the network
    uint32_t population;    ///< number, for the random numbers
    struct share share;     ///< the neurons of the block
    int32_t weight_units;   ///< what an event adds to the input
    uint32_t number;        ///< the steps whose numbers are kept, divided by external_steps
    uint8_t *events;        ///< [external_steps][share.count] how many, at most 255; owned
};

/// Opens the input of the neurons in `share` of a population that has input from outside. Free it with
/// external_close().
struct external_input *external_open(const struct network *network, uint32_t population, struct share share);
void external_close(struct external_input *external);

/// Adds the input of `step` to input[share.count]. \return the number of events.
uint64_t external_add(struct external_input *external, uint32_t step, int32_t *input);

/// Returns the bytes of the numbers that are kept; `external` may be NULL.
static inline uint64_t external_bytes(const struct external_input *external) {
    return external ? (uint64_t)external->share.count * external_steps : 0;
}
