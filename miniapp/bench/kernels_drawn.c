/// \file
/// Delivery as in a network that was drawn, for `spikemark calibrate`: lists have Poisson lengths, so that
/// some are empty and none is as long as the one before.
///
/// The size is the number of synapses in 16 lists, on the mean: four times as many lists as synapses, up to
/// 512 synapses in each. Synapses do not fit into caches (up to 20 million), the ring buffer does (5000
/// neurons, delays up to 20 steps), as on a thread of a large network.
///
/// `deliver_ring` has lists of 512 synapses on the mean, and a ring buffer of as many thousand neurons as its
/// size says: 0.2, 8.4 and 67 MB. The differences are what cells cost that no cache holds.

#include "kernels.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "tables.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 5000, longest = 20, most_synapses = 20000000, most_lists = 16000000, most_spikes = 2000000 };
enum { lists_of_size = 16, events_per_batch = 5000, events_per_run = 200000 };

enum { size_of_rings = 8192, ring_synapses = 8000000 };

static const int64_t sizes[] = {4, 16, 64, 256, 1024, 8192, 0};
static const int64_t ring_sizes[] = {5, 30, 200, 1600, 0};
static const int32_t weight = 1;

struct drawn {
    struct synapse_table table;
    struct ring ring;
    uint32_t *spikes; ///< lists in a random order
    size_t n_spikes, next, batch;
    uint32_t step;
};

static uint32_t *draw_synapses(const struct synapse_format *format, uint32_t n) {
    uint32_t *synapses = ALLOC(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        struct rng_words drawn = rng_draw(1, rng_synapse, 0, 0, i);
        const uint32_t delay = 1 + (uint32_t)((uint64_t)drawn.word[2] * longest >> 32);
        synapses[i] =
            synapse_pack(format, rng_below(drawn.word[0], drawn.word[1], format->neurons), delay, 0);
    }
    return synapses;
}

/// The packed synapses, the same for all sizes, which are kept until the program ends.
static uint32_t *shared_synapses(const struct synapse_format *format) {
    static uint32_t *shared;
    if (!shared) shared = draw_synapses(format, most_synapses);
    return shared;
}

/// Returns four numbers below `end`, as even as 32 bits allow: 4i to 4i + 3 of the sequence `seed`.
static void draw_four(uint32_t seed, uint32_t i, uint32_t end, uint32_t four[4]) {
    struct rng_words drawn = rng_draw(seed, rng_synapse, 0, 0, i);
    for (int k = 0; k < 4; k++) four[k] = (uint32_t)((uint64_t)drawn.word[k] * end >> 32);
}

/// Deals `n` synapses to the lists at random. \return [lists + 1] where each begins.
static uint32_t *deal(uint32_t lists, uint32_t n) {
    uint32_t four[4], before = 0, *start = ALLOC_ZERO(uint32_t, (size_t)lists + 1);
    for (uint32_t i = 0; i < n / 4; i++) {
        draw_four(2, i, lists, four);
        for (int k = 0; k < 4; k++) start[four[k]]++;
    }
    for (uint32_t l = 0; l <= lists; l++) {
        const uint32_t count = start[l];
        start[l] = before;
        before += count;
    }
    return start;
}

/// Opens lists of size / 16 synapses on the mean, and a ring. `synapses` are those of all lists; NULL draws
/// them.
static void open_lists(struct drawn *d, const struct synapse_format *format, int64_t size, uint32_t lists,
                       uint32_t *synapses) {
    uint32_t *start = deal(lists, (uint32_t)((int64_t)lists * size / lists_of_size));
    d->table =
        table_of_lists(*format, lists, start, synapses ? synapses : draw_synapses(format, start[lists]));
    free(start);
    d->n_spikes = lists < most_spikes ? lists / 4 * 4 : most_spikes;
    d->spikes = ALLOC(uint32_t, d->n_spikes);
    for (uint32_t i = 0; i < d->n_spikes / 4; i++) draw_four(3, i, lists, d->spikes + 4 * i);
    d->batch = (size_t)(events_per_batch * lists_of_size / size);
    d->ring = ring_open(format->neurons, longest, true);
}

static struct synapse_format format_of(uint32_t neurons_of_ring) {
    struct synapse_format format;
    struct error error = {""};
    synapse_format(&format, neurons_of_ring, longest, &weight, 1, &error);
    return format;
}

/// These are made once for each size and kept.
static void *open_drawn(const void *variant, int64_t size) {
    (void)variant;
    static struct drawn *opened[sizeof sizes / sizeof *sizes];
    size_t place = 0;
    while (sizes[place] != size) place++;
    if (opened[place]) return opened[place];
    opened[place] = ALLOC_ZERO(struct drawn, 1);
    const struct synapse_format format = format_of(neurons);
    uint32_t lists = (uint32_t)((int64_t)most_synapses * lists_of_size / size);
    if (lists > most_lists) lists = most_lists;
    open_lists(opened[place], &format, size, lists, shared_synapses(&format));
    return opened[place];
}

static void *open_ring(const void *variant, int64_t size) {
    (void)variant;
    struct drawn *d = ALLOC_ZERO(struct drawn, 1);
    const struct synapse_format format = format_of((uint32_t)(1000 * size));
    open_lists(d, &format, size_of_rings, (uint32_t)(ring_synapses / (size_of_rings / lists_of_size)), NULL);
    return d;
}

static void close_ring(void *state) {
    struct drawn *d = state;
    synapse_table_close(&d->table);
    ring_close(&d->ring);
    free(d->spikes);
    free(d);
}

static void close_drawn(void *state) {
    (void)state;
}

static uint64_t run_drawn(void *state) {
    struct drawn *d = state;
    uint64_t events = 0;
    while (events < events_per_run) {
        if (d->next + d->batch > d->n_spikes) d->next = 0;
        d->step = (d->step + 1) % d->ring.slots;
        events += synapse_table_deliver(&d->table, d->spikes + d->next, d->batch, spike_format(1), d->step,
                                        &d->ring)
                      .synaptic_events;
        d->next += d->batch;
    }
    return events;
}

size_t kernels_drawn(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"deliver_drawn", "synapse", sizes, NULL, open_drawn, run_drawn, close_drawn},
        {"deliver_ring", "synapse", ring_sizes, NULL, open_ring, run_drawn, close_ring},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
