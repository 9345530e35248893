/// \file
/// Collocating spikes into send buffers.
///
/// `collocate` has routes that lie in the caches. Its size is the number of spikes in a cycle, which go to
/// four ranks each.
///
/// `collocate_between` delivers and updates before it, as a run does, so that the caches hold other things.
/// Each spike goes to as many ranks as its size says. Only collocation is timed. Two sizes tell what a spike
/// takes from what each of its ranks takes.

#include "base/alloc.h"
#include "base/rng.h"
#include "between.h"
#include "kernels.h"
#include "measurement/clock.h"
#include "run/lane.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 20000, targets_of_a_spike = 4, between_neurons = 64000 };

static const int64_t spikes_per_cycle[] = {8, 128, 2048, 0};
static const int64_t targets[] = {4, 64, 0};

struct collocation {
    struct lane lane;
    struct lane_plan plan;
    struct window window;
    struct spike *fired; ///< [n_fired]
    uint32_t n_fired, spikes, next, targets;
    struct between *between; ///< who fires; or NULL
    double seconds;          ///< of the last cycle
};

/// Opens a lane whose neurons each have routes to `n_targets` ranks.
static struct collocation *open_lane(uint32_t n_neurons, uint32_t n_targets) {
    struct collocation *c = ALLOC_ZERO(struct collocation, 1);
    const size_t n_routes = (size_t)n_neurons * n_targets;
    c->targets = n_targets;
    c->lane.format = spike_format(1);
    c->plan.wire = wire_find("compact");
    c->lane.plan = &c->plan;
    c->lane.windows = &c->window;
    c->lane.routes = (struct routes){
        .neurons = n_neurons, .first = ALLOC(size_t, n_neurons + 1), .route = ALLOC(struct route, n_routes)};
    for (uint32_t i = 0; i <= n_neurons; i++) c->lane.routes.first[i] = (size_t)i * n_targets;
    for (size_t i = 0; i < n_routes; i++)
        c->lane.routes.route[i] = (struct route){(int)(i % n_targets), (uint32_t)(i / n_targets)};
    outbox_open(&c->window.outbox, (int)n_targets);
    return c;
}

/// The size is the number of spikes of a cycle, at random.
static void *open_collocation(const void *variant, int64_t size) {
    (void)variant;
    struct collocation *c = open_lane(neurons, targets_of_a_spike);
    c->spikes = (uint32_t)size;
    c->n_fired = neurons;
    c->fired = ALLOC_ZERO(struct spike, neurons);
    for (uint32_t i = 0; i < neurons; i++)
        c->fired[i].neuron = rng_draw(1, rng_neuron, 0, 0, i).word[0] % neurons;
    return c;
}

static void *open_collocation_between(const void *variant, int64_t size) {
    struct collocation *c = open_lane(between_neurons, (uint32_t)size);
    c->between = between_open(variant, between_neurons);
    return c;
}

static void close_collocation(void *state) {
    struct collocation *c = state;
    outbox_close(&c->window.outbox);
    routes_close(&c->lane.routes);
    if (c->between) between_close(c->between);
    free(c->fired);
    free(c);
}

static uint64_t run_collocation(void *state) {
    struct collocation *c = state;
    enum { cycles = 16 };
    for (int cycle = 0; cycle < cycles; cycle++) {
        outbox_clear(&c->window.outbox);
        if (c->next + c->spikes > c->n_fired) c->next = 0;
        lane_collocate(&c->lane, c->fired + c->next, c->spikes, 0);
        c->next += c->spikes;
    }
    return (uint64_t)cycles * c->spikes * c->targets;
}

static uint64_t run_collocation_between(void *state) {
    struct collocation *c = state;
    outbox_clear(&c->window.outbox);
    between_step(c->between);
    c->window.first_step = c->between->step;
    const double begin = clock_now();
    lane_collocate(&c->lane, c->between->spikes, c->between->n_spikes, 0);
    c->seconds = clock_now() - begin;
    return (uint64_t)c->between->n_spikes * c->targets;
}

static double seconds(const void *state) {
    return ((const struct collocation *)state)->seconds;
}

size_t kernels_collocate(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"collocate", "route", spikes_per_cycle, NULL, open_collocation, run_collocation, close_collocation,
         NULL},
        {"collocate_between", "route", targets, "ignore_and_fire", open_collocation_between,
         run_collocation_between, close_collocation, seconds},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
