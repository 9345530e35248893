/// \file
/// Ring buffer of synaptic input: what each neuron of a thread receives in each of the coming steps.
///
/// Input is summed in integers, so the order in which spikes arrive cannot change it. The sum of the
/// magnitudes of a neuron's synapses is bounded when the network is built, so that it cannot overflow.
/// Row of step s: row s mod slots. `slots` exceeds the longest delay, so a row is free again when it is
/// reused. The owner of a row is the thread that updates it; it sets it to zero after reading it.

#ifndef BASE_RING_H
#define BASE_RING_H

#include "base/alloc.h"
#include <stdint.h>
#include <stdlib.h>

struct ring {
    int32_t *input; ///< [slots][neurons], fixed point
    uint32_t neurons;
    uint32_t slots;
};

static inline struct ring ring_open(uint32_t neurons, uint32_t longest_delay_steps) {
    struct ring ring = {.neurons = neurons, .slots = longest_delay_steps + 1};
    ring.input = ALLOC_ZERO(int32_t, (size_t)ring.neurons * ring.slots);
    return ring;
}

static inline void ring_close(struct ring *ring) {
    free(ring->input);
}

/// Entries of the buffer, which is also the modulus of places in it.
static inline uint32_t ring_size(const struct ring *ring) {
    return ring->slots * ring->neurons;
}

static inline int32_t *ring_row(const struct ring *ring, uint32_t step) {
    return ring->input + (size_t)(step % ring->slots) * ring->neurons;
}

#endif
