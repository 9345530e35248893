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
///
/// `deliver_close` has 8 MB of synapses instead of 80 MB, as a thread of a small network has.
///
/// `deliver_far` has a gigabyte of synapses, as a thread of a rank with few threads has, and `deliver_near`
/// has 80 MB. Both have a ring of 64 000 neurons, since so many synapses have as many targets: what is on its
/// way from memory and from the ring waits for the same places.

#include "drawn.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "kernels.h"
#include "tables.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 5000, longest = 20, most_synapses = 20000000, most_lists = 16000000, most_spikes = 2000000 };
enum { lists_of_size = 16, events_per_batch = 5000, events_per_run = 200000 };

enum { size_of_rings = 8192, ring_synapses = 8000000, close_synapses = 2000000 };
enum { far_neurons = 64000, far_batch = 50000 }; // events of a batch

static const int64_t sizes[] = {4, 16, 64, 256, 1024, 8192, 0};
static const int64_t ring_sizes[] = {5, 30, 200, 1600, 0};
static const int64_t far_sizes[] = {256, 1024, 8192, 0};
static const uint32_t times_near = 1, times_far = 13; // as many synapses: 1.04 GB
static const int32_t weight = 1;

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

/// Opens `lists` lists of size / 16 synapses on the mean, which begin at `start`, and a ring.
static void open_table(struct drawn *d, const struct synapse_format *format, int64_t size, uint32_t lists,
                       uint32_t *start, uint32_t *synapses) {
    d->table = table_of_lists(*format, lists, start, synapses);
    free(start);
    d->n_spikes = lists < most_spikes ? lists / 4 * 4 : most_spikes;
    d->spikes = ALLOC(uint32_t, d->n_spikes);
    for (uint32_t i = 0; i < d->n_spikes / 4; i++) draw_four(3, i, lists, d->spikes + 4 * i);
    d->batch = (size_t)(events_per_batch * lists_of_size / size);
    d->ring = ring_open(format->neurons, longest, true);
}

/// Returns how many synapses `lists` lists have together.
static uint32_t synapses_of(uint32_t lists, int64_t size) {
    return (uint32_t)((int64_t)lists * size / lists_of_size);
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
    open_table(opened[place], &format, size, lists, deal(lists, synapses_of(lists, size)),
               shared_synapses(&format));
    return opened[place];
}

/// Opens lists of size / 16 synapses on the mean, 80 MB of them, which are repeated `times` times.
static struct drawn *open_repeated(uint32_t n_neurons, int64_t size, uint32_t times, size_t events) {
    struct drawn *d = ALLOC_ZERO(struct drawn, 1);
    const struct synapse_format format = format_of(n_neurons);
    const uint32_t lists = (uint32_t)((int64_t)most_synapses * lists_of_size / size);
    uint32_t *once = deal(lists, synapses_of(lists, size)), *start = ALLOC(uint32_t, times * lists + 1);
    uint32_t *synapses = ALLOC(uint32_t, (size_t)times * once[lists]);
    uint32_t *drawn = draw_synapses(&format, once[lists]);
    for (uint32_t k = 0; k < times; k++) {
        for (uint32_t l = 0; l <= lists; l++) start[k * lists + l] = k * once[lists] + once[l];
        memcpy(synapses + (size_t)k * once[lists], drawn, once[lists] * sizeof *synapses);
    }
    free(once);
    free(drawn);
    open_table(d, &format, size, times * lists, start, synapses);
    d->batch = (size_t)(events * lists_of_size / (size_t)size);
    return d;
}

static void *open_far(const void *variant, int64_t size) {
    return open_repeated(far_neurons, size, *(const uint32_t *)variant, far_batch);
}

struct drawn *drawn_open(uint32_t n_neurons, size_t events) {
    enum { size_of_lists = 1024 };
    return open_repeated(n_neurons, size_of_lists, 1, events);
}

/// Opens lists of size / 16 synapses on the mean onto so many neurons.
static struct drawn *open_few(uint32_t n_neurons, uint32_t synapses, int64_t size) {
    struct drawn *d = ALLOC_ZERO(struct drawn, 1);
    const struct synapse_format format = format_of(n_neurons);
    const uint32_t lists = (uint32_t)((int64_t)synapses * lists_of_size / size);
    uint32_t *start = deal(lists, synapses_of(lists, size));
    open_table(d, &format, size, lists, start, draw_synapses(&format, start[lists]));
    return d;
}

static void *open_close(const void *variant, int64_t size) {
    (void)variant;
    return open_few(neurons, close_synapses, size);
}

static void *open_ring(const void *variant, int64_t size) {
    (void)variant;
    return open_few((uint32_t)(1000 * size), ring_synapses, size_of_rings);
}

void drawn_close(struct drawn *d) {
    synapse_table_close(&d->table);
    ring_close(&d->ring);
    free(d->spikes);
    free(d);
}

static void close_ring(void *state) {
    drawn_close(state);
}

static void close_drawn(void *state) {
    (void)state;
}

uint64_t drawn_deliver(struct drawn *d) {
    if (d->next + d->batch > d->n_spikes) d->next = 0;
    d->step = (d->step + 1) % d->ring.slots;
    const uint32_t *spikes = d->spikes + d->next;
    d->next += d->batch;
    return synapse_table_deliver(&d->table, spikes, d->batch, spike_format(1), d->step, &d->ring)
        .synaptic_events;
}

static uint64_t run_drawn(void *state) {
    uint64_t events = 0;
    while (events < events_per_run) events += drawn_deliver(state);
    return events;
}

size_t kernels_drawn(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"deliver_drawn", "synapse", sizes, NULL, open_drawn, run_drawn, close_drawn, NULL},
        {"deliver_ring", "synapse", ring_sizes, NULL, open_ring, run_drawn, close_ring, NULL},
        {"deliver_close", "synapse", far_sizes, NULL, open_close, run_drawn, close_ring, NULL},
        {"deliver_near", "synapse", far_sizes, &times_near, open_far, run_drawn, close_ring, NULL},
        {"deliver_far", "synapse", far_sizes, &times_far, open_far, run_drawn, close_ring, NULL},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
