/// \file
/// Update of every registered neuron model, input from outside, and taking input from the ring buffer. As in
/// a run, neurons are updated in blocks of at most block_neurons.

#include "kernels.h"

#include "base/alloc.h"
#include "base/ring.h"
#include "neuron/external.h"
#include "neuron/model.h"
#include "run/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { steps_per_run = 100, delay_steps = 20 };

static const int64_t block_sizes[] = {256, 1024, 4096, 16384, 0};
static const int64_t update_sizes[] = {256,   1024,   4096,
                                       16384, 131072, 0}; // the last one: beyond second caches

struct neurons {
    const struct neuron_model *model;
    void **blocks; ///< of at most block_neurons
    struct ring ring;
    int32_t *input;
    uint32_t *fired;
    uint32_t n, step;
};

static uint32_t size_of_block(const struct neurons *s, uint32_t first) {
    return s->n - first < block_neurons ? s->n - first : block_neurons;
}

static void *open_neurons(const void *variant, int64_t size) {
    struct neurons *s = ALLOC_ZERO(struct neurons, 1);
    s->model = variant;
    s->n = (uint32_t)size;
    s->ring = ring_open(s->n, delay_steps, true);
    s->input = ALLOC_ZERO(int32_t, s->n);
    s->fired = ALLOC(uint32_t, s->n);
    if (!s->model) return s;
    struct neuron_setup setup = {.seed = 1, .resolution_ms = 0.1, .input_unit = 1, .share = {0, 1, s->n}};
    for (uint32_t i = 0; i < s->model->n_parameters; i++)
        setup.parameters[i] = s->model->parameters[i].fallback;
    s->blocks = ALLOC(void *, s->n / block_neurons + 1);
    for (uint32_t first = 0; first < s->n; first += block_neurons) {
        setup.share = (struct share){first, 1, size_of_block(s, first)};
        s->blocks[first / block_neurons] = s->model->open(&setup);
    }
    return s;
}

static void close_neurons(void *state) {
    struct neurons *s = state;
    for (uint32_t first = 0; s->model && first < s->n; first += block_neurons)
        s->model->close(s->blocks[first / block_neurons]);
    free(s->blocks);
    ring_close(&s->ring);
    free(s->input);
    free(s->fired);
    free(s);
}

/// Updates as the cycle loop does: the input is taken from the ring, then the neurons advance.
static uint64_t run_update(void *state) {
    struct neurons *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++)
        for (uint32_t first = 0; first < s->n; first += block_neurons) {
            ring_take(&s->ring, s->step, first, size_of_block(s, first), s->input);
            s->model->update(s->blocks[first / block_neurons], s->input, s->step, s->fired);
        }
    return (uint64_t)steps_per_run * s->n;
}

/// Adds input from outside to blocks of n neurons. The variant is its mean, events per neuron and step.
struct poisson_input {
    struct population population;
    struct network network;
    struct external_input *external;
    int32_t *input;
    uint32_t n, step;
};

static void *open_poisson(const void *variant, int64_t size) {
    struct poisson_input *s = ALLOC_ZERO(struct poisson_input, 1);
    s->n = (uint32_t)size;
    s->population.external = (struct external){.mean = *(const double *)variant, .weight_units = 1};
    s->network = (struct network){.seed = 1, .populations = &s->population, .n_populations = 1};
    s->external = external_open(&s->network, 0, (struct share){0, 1, s->n});
    s->input = ALLOC_ZERO(int32_t, s->n);
    return s;
}

static void close_poisson(void *state) {
    struct poisson_input *s = state;
    external_close(s->external);
    free(s->input);
    free(s);
}

static uint64_t run_poisson(void *state) {
    struct poisson_input *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++) {
        memset(s->input, 0, s->n * sizeof *s->input);
        external_add(s->external, s->step, s->input);
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
        kernels[n] = (struct kernel){"",           "neuron step", update_sizes,  neuron_models[m],
                                     open_neurons, run_update,    close_neurons, NULL};
        snprintf(kernels[n++].name, sizeof kernels->name, "update_%.50s", neuron_models[m]->name);
    }
    // There is hardly an event, or 400 synapses at 3 Hz in steps of 0.1 and of 1 ms, or many events.
    static const double means[] = {1e-4, 0.12, 1.2, 20};
    for (size_t m = 0; m < sizeof means / sizeof *means && n < capacity; m++) {
        kernels[n] = (struct kernel){"",           "neuron step", block_sizes,   &means[m],
                                     open_poisson, run_poisson,   close_poisson, NULL};
        snprintf(kernels[n++].name, sizeof kernels->name, "poisson_mean_%g", means[m]);
    }
    if (n < capacity)
        kernels[n++] = (struct kernel){"ring_take",  "neuron step", block_sizes,   NULL,
                                       open_neurons, run_take,      close_neurons, NULL};
    return n;
}
