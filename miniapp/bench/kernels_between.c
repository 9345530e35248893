/// \file
/// Update between deliveries, as in a run: what was delivered has driven the state of the neurons and the row
/// of the ring out of the caches. Only update is timed. Its size is in thousands of neurons.

#include "between.h"

#include "base/alloc.h"
#include "kernels.h"
#include "measurement/clock.h"
#include "run/build.h"
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[] = {5, 30, 64, 200, 0};

static uint32_t size_of_block(const struct between *b, uint32_t first) {
    return b->n - first < block_neurons ? b->n - first : block_neurons;
}

struct between *between_open(const char *model, uint32_t n) {
    struct between *b = ALLOC_ZERO(struct between, 1);
    b->model = neuron_model_find(model);
    b->n = n;
    b->drawn = drawn_open(n, (size_t)n * 3 / 2);
    b->blocks = ALLOC(void *, n / block_neurons + 1);
    b->input = ALLOC(int32_t, block_neurons);
    b->fired = ALLOC(uint32_t, block_neurons);
    b->spikes = ALLOC(struct spike, n);
    struct neuron_setup setup = {.seed = 1, .resolution_ms = 0.1, .input_unit = 1};
    for (uint32_t i = 0; i < b->model->n_parameters; i++)
        setup.parameters[i] = b->model->parameters[i].fallback;
    for (uint32_t first = 0; first < n; first += block_neurons) {
        setup.share = (struct share){first, 1, size_of_block(b, first)};
        b->blocks[first / block_neurons] = b->model->open(&setup);
    }
    return b;
}

void between_close(struct between *b) {
    for (uint32_t first = 0; first < b->n; first += block_neurons)
        b->model->close(b->blocks[first / block_neurons]);
    free(b->blocks);
    free(b->input);
    free(b->fired);
    free(b->spikes);
    drawn_close(b->drawn);
    free(b);
}

void between_step(struct between *b) {
    drawn_deliver(b->drawn);
    const uint32_t row = b->drawn->step + 1;
    b->step++; // neurons fire as they do in a run; the step of what is delivered begins anew with the ring
    b->n_spikes = 0;
    const double begin = clock_now();
    for (uint32_t first = 0; first < b->n; first += block_neurons) {
        ring_take(&b->drawn->ring, row, first, size_of_block(b, first), b->input);
        const uint32_t n = b->model->update(b->blocks[first / block_neurons], b->input, b->step, b->fired);
        for (uint32_t i = 0; i < n; i++)
            b->spikes[b->n_spikes++] = (struct spike){first + b->fired[i], first + b->fired[i], b->step};
    }
    b->seconds = clock_now() - begin;
}

static void *open_between(const void *variant, int64_t size) {
    return between_open(variant, (uint32_t)(1000 * size));
}

static void close_between(void *state) {
    between_close(state);
}

static uint64_t run_between(void *state) {
    struct between *b = state;
    between_step(b);
    return b->n;
}

static double seconds(const void *state) {
    return ((const struct between *)state)->seconds;
}

size_t kernels_between(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"update_between", "neuron step", sizes, "ignore_and_fire", open_between, run_between, close_between,
         seconds},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
