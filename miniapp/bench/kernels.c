/// \file
/// Kernels beside delivery: update and input of neurons, collocation, drawing synapses; and the machine
/// without the mini-app, for `spikemark calibrate`.

#include "kernels.h"
#include "description/network_draw.h"

#include "run/build.h"
#include <stdio.h>

enum { steps_per_run = 100, network_neurons = 20000 };

static const int64_t one_size[] = {1, 0};
static const int64_t block_sizes[] = {256, 1024, 4096, 16384, 0};

// Neurons: as in a run, they are updated in blocks of at most block_neurons.

static const int64_t update_sizes[] = {256, 1024, 4096, 16384, 131072, 0}; // the last: beyond second caches

struct neurons {
    const struct neuron_model *model; ///< NULL: only the ring
    void **blocks;                    ///< of at most block_neurons
    struct ring ring;
    int32_t *input;
    uint32_t *fired;
    uint32_t n, step;
};

static uint32_t size_of_block(const struct neurons *s, uint32_t first) {
    return s->n - first < block_neurons ? s->n - first : block_neurons;
}

static void *open_neurons(const void *variant, int64_t size) {
    enum { delay_steps = 20 };
    struct neurons *s = ALLOC_ZERO(struct neurons, 1);
    s->model = variant;
    s->n = (uint32_t)size;
    s->ring = ring_open(s->n, delay_steps, true);
    s->input = ALLOC_ZERO(int32_t, s->n);
    s->fired = ALLOC(uint32_t, s->n);
    s->blocks = ALLOC(void *, s->n / block_neurons + 1);
    struct neuron_setup setup = {.seed = 1, .resolution_ms = 0.1, .input_unit = 1};
    for (uint32_t i = 0; s->model && i < s->model->n_parameters; i++)
        setup.parameters[i] = s->model->parameters[i].fallback;
    for (uint32_t first = 0; s->model && first < s->n; first += block_neurons) {
        setup.share = (struct share){first, 1, size_of_block(s, first)};
        s->blocks[first / block_neurons] = s->model->open(&setup);
    }
    return s;
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

static uint64_t run_take(void *state) {
    struct neurons *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++) ring_take(&s->ring, s->step, 0, s->n, s->input);
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

/// Means: hardly an event; 400 synapses at 3 Hz in steps of 0.1 and of 1 ms; many events.
static const double poisson_means[] = {1e-4, 0.12, 1.2, 20};

static void *open_poisson(const void *variant, int64_t size) {
    struct poisson_input *s = ALLOC_ZERO(struct poisson_input, 1);
    s->n = (uint32_t)size;
    s->population.external = (struct external){.mean = *(const double *)variant, .weight_units = 1};
    s->network = (struct network){.seed = 1, .populations = &s->population, .n_populations = 1};
    s->external = external_open(&s->network, 0, (struct share){0, 1, s->n});
    s->input = ALLOC_ZERO(int32_t, s->n);
    return s;
}

static uint64_t run_poisson(void *state) {
    struct poisson_input *s = state;
    for (int i = 0; i < steps_per_run; i++, s->step++) {
        memset(s->input, 0, s->n * sizeof *s->input);
        external_add(s->external, s->step, s->input);
    }
    return (uint64_t)steps_per_run * s->n;
}

// Collocation of so many spikes, which go to four ranks each; routes lie in the caches.

enum { targets = 4 };

static const int64_t spikes_per_cycle[] = {8, 128, 2048, 0};

struct collocation {
    struct lane lane;
    struct lane_plan plan;
    struct transfer transfer;
    struct spike fired[network_neurons]; ///< at random
    uint32_t spikes, next;
};

static void *open_collocation(const void *variant, int64_t size) {
    (void)variant;
    struct collocation *c = ALLOC_ZERO(struct collocation, 1);
    const size_t n_routes = (size_t)network_neurons * targets;
    c->spikes = (uint32_t)size;
    c->plan.wire = wire_find("compact");
    c->lane.format = spike_format(1);
    c->lane.plan = &c->plan;
    c->lane.transfers = &c->transfer;
    c->lane.routes = (struct routes){.neurons = network_neurons,
                                     .first = ALLOC(size_t, network_neurons + 1),
                                     .route = ALLOC(struct route, n_routes)};
    for (uint32_t i = 0; i <= network_neurons; i++) c->lane.routes.first[i] = (size_t)i * targets;
    for (size_t i = 0; i < n_routes; i++)
        c->lane.routes.route[i] = (struct route){(int)(i % targets), (uint32_t)(i / targets)};
    send_buffer_open(&c->transfer.send_buffer, targets);
    for (uint32_t i = 0; i < network_neurons; i++)
        c->fired[i].neuron = rng_draw(1, rng_neuron, 0, 0, i).word[0] % network_neurons;
    return c;
}

static uint64_t run_collocation(void *state) {
    struct collocation *c = state;
    enum { cycles = 16 };
    for (int cycle = 0; cycle < cycles; cycle++) {
        send_buffer_clear(&c->transfer.send_buffer);
        if (c->next + c->spikes > network_neurons) c->next = 0;
        lane_collocate(&c->lane, c->fired + c->next, c->spikes, 0);
        c->next += c->spikes;
    }
    return (uint64_t)cycles * c->spikes * targets;
}

struct drawing {
    struct network network;
    struct projection projection;
    struct source_range range;
    uint32_t target;
};

static void *open_drawing(const void *variant, int64_t size) {
    (void)variant, (void)size;
    struct drawing *d = ALLOC_ZERO(struct drawing, 1);
    d->range = (struct source_range){.first = 0, .end = network_neurons, .begin = 0};
    d->projection = (struct projection){.pool = network_neurons, .ranges = &d->range, .n_ranges = 1};
    delay_open(&d->projection.delay, false, 1.5, 0.75, 0.1, 20, 0.1);
    d->network = (struct network){.seed = 1, .projections = &d->projection, .n_projections = 1};
    return d;
}

static uint64_t run_drawing(void *state) {
    enum { draws_per_run = 64 * 1600 };
    struct drawing *d = state;
    uint32_t source[network_batch], delay[network_batch], sum = 0;
    for (uint32_t k = 0; k < draws_per_run; k += network_batch) {
        network_draw(&d->network, 0, d->target, k, network_batch, source, delay, NULL);
        sum += source[k % network_batch] + delay[k % network_batch];
    }
    d->target += 1 + (sum == 0); // keeps the draws from being optimised away
    return draws_per_run;
}

// The machine: its clock and the bandwidth of its memory

static const int64_t array_mebibytes[] = {64, 0};

static void *open_clock(const void *variant, int64_t size) {
    (void)variant, (void)size;
    return ALLOC_ZERO(uint64_t, 2);
}

/// Makes additions each of which needs the one before: one per cycle on every processor in use.
static uint64_t run_clock(void *state) {
    enum { adds_per_run = 1000000 };
    uint64_t *sum = state, x = sum[0], step = sum[1];
    for (int i = 0; i < adds_per_run / 10; i++)
        for (int k = 0; k < 10; k++) {
            x += step;
            __asm__ volatile("" : "+r"(x), "+r"(step)); // keeps it from being merged or left out
        }
    sum[0] = x;
    return adds_per_run;
}

struct arrays {
    double *a, *b, *c;
    size_t n;
};

static void *open_triad(const void *variant, int64_t size) {
    (void)variant;
    struct arrays *s = ALLOC(struct arrays, 1);
    s->n = ((size_t)size << 20) / sizeof(double);
    s->a = ALLOC_ZERO(double, s->n);
    s->b = ALLOC_ZERO(double, s->n);
    s->c = ALLOC_ZERO(double, s->n);
    for (size_t i = 0; i < s->n; i++) s->b[i] = s->c[i] = 1; // pages of their own
    return s;
}

/// Computes a = b + 3 c. Bytes are counted as STREAM counts them: two read and one written, whatever else the
/// cache fetches.
static uint64_t run_triad(void *state) {
    struct arrays *s = state;
    double *restrict a = s->a;
    const double *restrict b = s->b, *restrict c = s->c;
    for (size_t i = 0; i < s->n; i++) a[i] = b[i] + 3 * c[i];
    return 3 * sizeof(double) * (uint64_t)s->n;
}

size_t kernels_list(struct kernel *kernels) {
    static const struct kernel fixed[] = {
        {"ring_take", "neuron step", block_sizes, NULL, open_neurons, run_take},
        {"collocate", "route", spikes_per_cycle, NULL, open_collocation, run_collocation},
        {"random", "synapse", one_size, NULL, open_drawing, run_drawing},
        {"clock", "cycle", one_size, NULL, open_clock, run_clock},
        {"triad", "byte", array_mebibytes, NULL, open_triad, run_triad},
    };
    size_t n = kernels_deliver(kernels);
    memcpy(kernels + n, fixed, sizeof fixed);
    n += sizeof fixed / sizeof *fixed;
    for (size_t m = 0; m < sizeof poisson_means / sizeof *poisson_means; m++) {
        kernels[n] =
            (struct kernel){"", "neuron step", block_sizes, &poisson_means[m], open_poisson, run_poisson};
        snprintf(kernels[n++].name, sizeof kernels->name, "poisson_mean_%g", poisson_means[m]);
    }
    for (int m = 0; neuron_models[m] && n < kernels_most; m++) {
        kernels[n] =
            (struct kernel){"", "neuron step", update_sizes, neuron_models[m], open_neurons, run_update};
        snprintf(kernels[n++].name, sizeof kernels->name, "update_%.50s", neuron_models[m]->name);
    }
    return n;
}
