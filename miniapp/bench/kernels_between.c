/// \file
/// Update between deliveries, as in a run: what was delivered has driven the state of the neurons and the row
/// of the ring out of the caches. Only update is timed. Its size is in thousands of neurons.

#include "base/alloc.h"
#include "drawn.h"
#include "kernels.h"
#include "measurement/clock.h"
#include "neuron/model.h"
#include "run/build.h"
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[] = {5, 30, 64, 200, 0};

struct between {
    const struct neuron_model *model;
    struct drawn *drawn;
    void **blocks;
    uint32_t n, step;
    int32_t input[block_neurons];
    uint32_t fired[block_neurons];
    double seconds; ///< of the last update
};

static uint32_t size_of_block(const struct between *s, uint32_t first) {
    return s->n - first < block_neurons ? s->n - first : block_neurons;
}

/// Opens neurons that receive 1.5 synaptic events in a step, as 5842 synapses at 2.5 spikes per second do.
static void *open_between(const void *variant, int64_t size) {
    struct between *s = ALLOC_ZERO(struct between, 1);
    s->model = neuron_model_find(variant);
    s->n = (uint32_t)(1000 * size);
    s->drawn = drawn_open(s->n, (size_t)s->n * 3 / 2);
    s->blocks = ALLOC(void *, s->n / block_neurons + 1);
    struct neuron_setup setup = {.seed = 1, .resolution_ms = 0.1, .input_unit = 1};
    for (uint32_t i = 0; i < s->model->n_parameters; i++)
        setup.parameters[i] = s->model->parameters[i].fallback;
    for (uint32_t first = 0; first < s->n; first += block_neurons) {
        setup.share = (struct share){first, 1, size_of_block(s, first)};
        s->blocks[first / block_neurons] = s->model->open(&setup);
    }
    return s;
}

static void close_between(void *state) {
    struct between *s = state;
    for (uint32_t first = 0; first < s->n; first += block_neurons)
        s->model->close(s->blocks[first / block_neurons]);
    free(s->blocks);
    drawn_close(s->drawn);
    free(s);
}

static uint64_t run_between(void *state) {
    struct between *s = state;
    drawn_deliver(s->drawn);
    const uint32_t row = s->drawn->step + 1;
    s->step++; // neurons fire as they do in a run; the step of what is delivered begins anew with the ring
    const double begin = clock_now();
    for (uint32_t first = 0; first < s->n; first += block_neurons) {
        ring_take(&s->drawn->ring, row, first, size_of_block(s, first), s->input);
        s->model->update(s->blocks[first / block_neurons], s->input, s->step, s->fired);
    }
    s->seconds = clock_now() - begin;
    return s->n;
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
