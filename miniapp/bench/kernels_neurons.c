/// \file
/// Update of every registered neuron model, and taking input from the ring buffer.

#include "kernels.h"

#include "base/alloc.h"
#include "base/ring.h"
#include "neuron/model.h"
#include <stdio.h>
#include <stdlib.h>

enum { steps_per_run = 100, delay_steps = 20 };

static const int64_t block_sizes[] = {256, 1024, 4096, 16384, 0};

struct neurons {
    const struct neuron_model *model;
    void *block;
    struct ring ring;
    int32_t *input;
    uint32_t *fired;
    uint32_t n, step;
};

static void *open_neurons(const void *variant, int64_t size) {
    struct neurons *s = ALLOC_ZERO(struct neurons, 1);
    s->model = variant;
    s->n = (uint32_t)size;
    s->ring = ring_open(s->n, delay_steps, true);
    s->input = ALLOC_ZERO(int32_t, s->n);
    s->fired = ALLOC(uint32_t, s->n);
    if (!s->model) return s;
    struct neuron_setup setup = {.seed = 1, .resolution_ms = 0.1, .share = {0, 1, s->n}};
    for (uint32_t i = 0; i < s->model->n_parameters; i++)
        setup.parameters[i] = s->model->parameters[i].fallback;
    s->block = s->model->open(&setup);
    return s;
}

static void close_neurons(void *state) {
    struct neurons *s = state;
    if (s->model) s->model->close(s->block);
    ring_close(&s->ring);
    free(s->input);
    free(s->fired);
    free(s);
}

/// As in the cycle loop: the input is taken from the ring, then the neurons advance.
static uint64_t run_update(void *state) {
    struct neurons *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++) {
        ring_take(&s->ring, s->step, 0, s->n, s->input);
        s->model->update(s->block, s->input, s->step, s->fired);
    }
    return (uint64_t)steps_per_run * s->n;
}

static uint64_t run_take(void *state) {
    struct neurons *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++) ring_take(&s->ring, s->step, 0, s->n, s->input);
    return (uint64_t)steps_per_run * s->n;
}

size_t kernels_neurons(struct kernel *kernels, size_t capacity) {
    size_t n = 0;
    for (int m = 0; neuron_models[m] && n < capacity; m++) {
        kernels[n] = (struct kernel){"",           "neuron step", block_sizes,  neuron_models[m],
                                     open_neurons, run_update,    close_neurons};
        snprintf(kernels[n++].name, sizeof kernels->name, "update_%.50s", neuron_models[m]->name);
    }
    if (n < capacity)
        kernels[n++] = (struct kernel){"ring_take",  "neuron step", block_sizes,  NULL,
                                       open_neurons, run_take,      close_neurons};
    return n;
}
