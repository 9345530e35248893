/// \file
/// Drawing synapses.

#include "kernels.h"

#include "base/alloc.h"
#include "description/draw.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 20000, draws_per_run = 64 * 1600 };

static const int64_t one_size[] = {1, 0};

struct drawing {
    struct network network;
    struct projection projection;
    struct source_range range;
    uint32_t target;
};

static void *open_drawing(const void *variant, int64_t size) {
    (void)variant, (void)size;
    struct drawing *d = ALLOC_ZERO(struct drawing, 1);
    d->range = (struct source_range){.first = 0, .end = neurons, .begin = 0};
    d->projection = (struct projection){.pool = neurons, .ranges = &d->range, .n_ranges = 1};
    delay_open(&d->projection.delay, 1.5, 0.75, 0.1, 20, 0.1);
    d->network = (struct network){.seed = 1, .projections = &d->projection, .n_projections = 1};
    return d;
}

static void close_drawing(void *state) {
    delay_close(&((struct drawing *)state)->projection.delay);
    free(state);
}

static uint64_t run_drawing(void *state) {
    struct drawing *d = state;
    uint32_t source[network_batch], delay[network_batch], sum = 0;
    for (uint32_t k = 0; k < draws_per_run; k += network_batch) {
        network_draw(&d->network, 0, d->target, k, network_batch, source, delay, NULL);
        sum += source[k % network_batch] + delay[k % network_batch];
    }
    d->target += 1 + (sum == 0); // keeps the draws from being optimised away
    return draws_per_run;
}

size_t kernels_network(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"random", "synapse", one_size, NULL, open_drawing, run_drawing, close_drawing, NULL},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
