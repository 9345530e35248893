/// \file
/// Drawing synapses, and collocating spikes into send buffers.
///
/// `collocate_between` collocates 32 spikes to as many ranks as its size says, and delivers before it, so
/// that the caches hold other things. Only collocation is timed. Two sizes tell what a spike takes from what
/// each of its ranks takes.

#include "kernels.h"

#include "base/alloc.h"
#include "description/draw.h"
#include "drawn.h"
#include "measurement/clock.h"
#include "run/lane.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 20000, targets_of_a_spike = 4, draws_per_run = 64 * 1600 };
enum { many_neurons = 64000, many_spikes = 32, many_events = 94000 }; // the latter of a cycle

static const int64_t one_size[] = {1, 0};
static const int64_t spikes_per_cycle[] = {8, 128, 2048, 0};
static const int64_t many_targets[] = {4, 64, 0};

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

struct collocation {
    struct lane lane;
    struct lane_plan plan;
    struct window window;
    struct spike *fired;
    uint32_t n_fired, spikes, next, targets;
    struct drawn *drawn; ///< delivers before every cycle; or NULL
    double seconds;      ///< of the last cycle
};

/// Opens a lane whose neurons each have routes to `targets` ranks. `spikes` of them fire in a cycle, at
/// random.
static struct collocation *open_lane(uint32_t n_neurons, uint32_t targets, uint32_t spikes) {
    struct collocation *c = ALLOC_ZERO(struct collocation, 1);
    const size_t n_routes = (size_t)n_neurons * targets;
    c->spikes = spikes;
    c->targets = targets;
    c->lane.format = spike_format(1);
    c->plan.wire = wire_find("compact");
    c->lane.plan = &c->plan;
    c->lane.windows = &c->window;
    c->lane.routes = (struct routes){
        .neurons = n_neurons, .first = ALLOC(size_t, n_neurons + 1), .route = ALLOC(struct route, n_routes)};
    for (uint32_t i = 0; i <= n_neurons; i++) c->lane.routes.first[i] = (size_t)i * targets;
    for (size_t i = 0; i < n_routes; i++)
        c->lane.routes.route[i] = (struct route){(int)(i % targets), (uint32_t)(i / targets)};
    outbox_open(&c->window.outbox, (int)targets);
    c->n_fired = n_neurons;
    c->fired = ALLOC_ZERO(struct spike, n_neurons);
    for (uint32_t i = 0; i < n_neurons; i++)
        c->fired[i].neuron = rng_draw(1, rng_neuron, 0, 0, i).word[0] % n_neurons;
    return c;
}

static void *open_collocation(const void *variant, int64_t size) {
    (void)variant;
    return open_lane(neurons, targets_of_a_spike, (uint32_t)size);
}

/// The size is the number of ranks that each spike goes to.
static void *open_collocation_between(const void *variant, int64_t size) {
    (void)variant;
    struct collocation *c = open_lane(many_neurons, (uint32_t)size, many_spikes);
    c->drawn = drawn_open(many_neurons, many_events);
    return c;
}

static void close_collocation(void *state) {
    struct collocation *c = state;
    outbox_close(&c->window.outbox);
    routes_close(&c->lane.routes);
    if (c->drawn) drawn_close(c->drawn);
    free(c->fired);
    free(c);
}

static uint64_t collocate_cycle(struct collocation *c) {
    outbox_clear(&c->window.outbox);
    if (c->next + c->spikes > c->n_fired) c->next = 0;
    lane_collocate(&c->lane, c->fired + c->next, c->spikes, 0);
    c->next += c->spikes;
    return (uint64_t)c->spikes * c->targets;
}

static uint64_t run_collocation(void *state) {
    uint64_t routes = 0;
    for (int cycle = 0; cycle < 16; cycle++) routes += collocate_cycle(state);
    return routes;
}

static uint64_t run_collocation_between(void *state) {
    struct collocation *c = state;
    drawn_deliver(c->drawn);
    const double begin = clock_now();
    const uint64_t routes = collocate_cycle(c);
    c->seconds = clock_now() - begin;
    return routes;
}

static double seconds_of_collocation(const void *state) {
    return ((const struct collocation *)state)->seconds;
}

size_t kernels_network(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"random", "synapse", one_size, NULL, open_drawing, run_drawing, close_drawing, NULL},
        {"collocate", "route", spikes_per_cycle, NULL, open_collocation, run_collocation, close_collocation,
         NULL},
        {"collocate_between", "route", many_targets, NULL, open_collocation_between, run_collocation_between,
         close_collocation, seconds_of_collocation},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
