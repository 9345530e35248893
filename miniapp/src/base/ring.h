/// \file
/// The ring buffer of synaptic input: what each neuron of a thread receives in each of the coming steps.
///
/// Input is summed in integers, so the order in which spikes arrive cannot change it. When the network is
/// built, the sum of the magnitudes of a neuron's synapses is bounded so that its input cannot overflow.
/// Cells have 16 bits where all weights are exact in them, and 32 bits otherwise, because the memory that
/// delivery touches bounds its speed. Row s mod slots belongs to step s. `slots` exceeds the longest delay,
/// so a row is free again when it is reused. The thread that updates a row owns it, and sets it to zero when
/// it takes the input.
///
///     row 0      neuron 0, 1, 2, ... neurons - 1
///     row 1      neuron 0, 1, 2, ...               row s mod slots: the update of step s reads and clears it
///     row 2      neuron 0, 1, 2, ...               the next row: input with a delay of 1 of a spike at s
///     ...
///     row slots - 1
///
/// Rows lie one after the other, so that cell = row x neurons + neuron. A synapse stores delay x neurons +
/// target, to which delivery adds the row of the spike x neurons, modulo all cells (synapse/synapse.h).
/// Memory: 2 or 4 bytes for each neuron and slot.
///
/// So a spike waits here for what is left of its delay when it is delivered, however long that is: a delay of
/// many cycles is only a row further on.

#pragma once

#include "base/alloc.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// The buffer of one thread.
struct ring {
    void *cells;      ///< int16_t or int32_t [slots][neurons], fixed point
    bool narrow;      ///< whether cells have 16 bits
    uint32_t neurons; ///< of the thread
    uint32_t slots;   ///< rows, one for each step up to the longest delay
};

/// Returns the bytes of all cells.
static inline size_t ring_bytes(const struct ring *ring) {
    return (size_t)ring->neurons * ring->slots * (ring->narrow ? sizeof(int16_t) : sizeof(int32_t));
}

/// Opens a buffer of zeros, by the thread that will use it. Close it with ring_close().
static inline struct ring ring_open(uint32_t neurons, uint32_t longest_delay_steps, bool narrow) {
    struct ring ring = {.neurons = neurons, .slots = longest_delay_steps + 1, .narrow = narrow};
    ring.cells = alloc_zero(ring_bytes(&ring), 1);
    return ring;
}

/// Frees the cells. A ring that was set to zero may be closed, too.
static inline void ring_close(struct ring *ring) {
    free(ring->cells);
}

/// Returns the number of cells, which is also the modulus of places in the buffer.
static inline uint32_t ring_size(const struct ring *ring) {
    return ring->slots * ring->neurons;
}

/// Moves the input of neurons first, first + 1, ... at `step` to input[n], and leaves zeros behind.
static inline void ring_take(struct ring *ring, uint32_t step, uint32_t first, uint32_t n,
                             int32_t *restrict input) {
    const size_t place = (size_t)(step % ring->slots) * ring->neurons + first;
    if (ring->narrow) {
        int16_t *restrict cells = (int16_t *)ring->cells + place;
        for (uint32_t i = 0; i < n; i++) input[i] = cells[i];
        memset(cells, 0, n * sizeof *cells);
    } else {
        int32_t *restrict cells = (int32_t *)ring->cells + place;
        memcpy(input, cells, n * sizeof *cells);
        memset(cells, 0, n * sizeof *cells);
    }
}
