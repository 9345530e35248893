/// \file
/// The delivery of spikes: the mini-app's, and the bound that the memory sets.
///
/// The bound does only what no delivery can avoid: it starts at a random list of L contiguous packed synapses
/// and adds to a random place of the ring buffer for each of them. It works on the same synapses, the same
/// ring and the same order of lists as the mini-app's kernel: 20 000 neurons, delays up to 20 ms and 20
/// million synapses, which is the network of the MAM-benchmark on one thread. Lists begin within cache lines,
/// as those of a network do. The bound knows its lists beforehand and has a single weight. Delivery with a
/// weight in every synapse, eight bytes, adds to 32-bit cells.

#include "kernels.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "description/delay.h"
#include "tables.h"
#include <stdlib.h>
#include <string.h>

enum { neurons = 20000, longest = 200, synapses = 20000000, batch = 5, events_per_run = 200000 };
enum { line = 16, lines_ahead = 6, few = 8, before_lists = 5 }; // synapses of four bytes, except lines_ahead

static const int64_t list_lengths[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1024, 0};
static const int32_t weight = 1;
static const bool own_weights = true; ///< the variant of kernels whose synapses hold their weights

struct delivery {
    struct synapse_table table;
    uint32_t *synapses; ///< that name no list
    struct ring ring;
    uint32_t *lists; ///< a random order of lists, long enough not to be learned by the caches
    size_t n_lists, next;
    uint32_t step, length;
};

/// The packed synapses, the same for all lengths of lists. They are drawn once and kept until the program
/// ends.
static uint32_t *shared_synapses(const struct synapse_format *format) {
    static uint32_t *kept[2];
    const size_t words = synapse_bytes(format) / sizeof(uint32_t);
    if (kept[words - 1]) return kept[words - 1];
    struct delay near, far;
    delay_open(&near, 1.5, 0.75, 0.1, 20, 0.1);
    delay_open(&far, 5, 2.5, 1, 20, 0.1);
    uint32_t *shared = kept[words - 1] = ALLOC(uint32_t, words * synapses);
    for (uint32_t i = 0; i < synapses; i++) {
        struct rng_words drawn = rng_draw(1, rng_synapse, 0, 0, i);
        uint32_t delay = delay_draw(drawn.word[3] & 1 ? &near : &far, drawn.word[2]);
        shared[words * i] = synapse_pack(format, rng_below(drawn.word[0], drawn.word[1], neurons), delay, 0);
        if (words > 1) shared[words * i + 1] = drawn.word[3] >> 16;
    }
    delay_close(&near);
    delay_close(&far);
    return shared;
}

/// Lists of L synapses over the shared ones, and a ring. They are made once for each L, so that all kernels
/// of that length use the same memory.
static void *open_delivery(const void *variant, int64_t size) {
    const bool own = variant == &own_weights;
    static struct delivery *opened[2][1025];
    if (opened[own][size]) return opened[own][size];
    struct delivery *d = opened[own][size] = ALLOC_ZERO(struct delivery, 1);
    struct synapse_format format;
    struct error error = {""};
    d->length = (uint32_t)size;
    d->n_lists = (synapses - before_lists) / d->length;
    synapse_format(&format, neurons, longest, own ? NULL : &weight, own ? 0 : 1, &error);
    d->synapses = shared_synapses(&format);
    uint32_t *start = ALLOC(uint32_t, d->n_lists + 1);
    for (uint32_t l = 0; l <= d->n_lists; l++) start[l] = before_lists + l * d->length;
    d->table = table_of_lists(format, (uint32_t)d->n_lists, start, d->synapses);
    free(start);
    d->lists = ALLOC(uint32_t, d->n_lists);
    for (uint32_t l = 0; l < d->n_lists; l++) {
        struct rng_words drawn = rng_draw(2, rng_synapse, 0, 0, l);
        d->lists[l] = rng_below(drawn.word[0], drawn.word[1], (uint32_t)d->n_lists);
    }
    d->ring = ring_open(neurons, longest, !own);
    return d;
}

static void close_delivery(void *state) {
    (void)state;
} // kept for the next kernel of that length

/// Draws the next batch of lists: enough spikes for 5000 synaptic events, as the benchmark network has per
/// cycle.
static const uint32_t *next_batch(struct delivery *d, size_t *n) {
    *n = (size_t)batch * 1000 / d->length;
    if (*n == 0) *n = 1;
    if (d->next + *n > d->n_lists) d->next = 0;
    const uint32_t *lists = d->lists + d->next;
    d->next += *n;
    d->step = (d->step + 1) % d->ring.slots;
    return lists;
}

static uint64_t run_deliver(void *state) {
    struct delivery *d = state;
    uint64_t events = 0;
    while (events < events_per_run) {
        size_t n;
        const uint32_t *lists = next_batch(d, &n);
        events +=
            synapse_table_deliver(&d->table, lists, n, spike_format(1), d->step, &d->ring).synaptic_events;
    }
    return events;
}

/// Adds the synapses at ... end - 1 to their places.
static inline void add(const uint32_t *restrict at, const uint32_t *end, uint32_t row, uint32_t size,
                       int16_t *restrict cells) {
    for (; at < end; at++) {
        const uint32_t place = *at + row, wrapped = place - size;
        cells[wrapped < place ? wrapped : place]++;
    }
}

/// Fetches the cells of a list of `length` synapses.
static inline void fetch_cells(const uint32_t *at, uint32_t length, uint32_t row, const struct ring *ring) {
    const uint32_t size = ring_size(ring);
    for (const uint32_t *end = at + length; at < end; at++) {
        const uint32_t place = *at + row, wrapped = place - size;
        __builtin_prefetch((int16_t *)ring->cells + (wrapped < place ? wrapped : place), 1);
    }
}

/// Fetches the first lines of a list, or of a `brief` one both ends.
__attribute__((always_inline)) static inline void fetch_list(const uint32_t *at, uint32_t length,
                                                             const bool brief) {
    if (brief) {
        __builtin_prefetch(at);
        __builtin_prefetch(at + length - 1);
    }
    for (uint32_t k = 0; !brief && k < lines_ahead * line; k += line)
        __builtin_prefetch(at + (k < length ? k : length - 1));
}

/// Goes from one random list to the next and adds its synapses to their places. `ahead` is the number of
/// spikes whose lists are fetched beforehand: first their first lines, and later ones while they are read; 0
/// is none. `cells_ahead` is the number of those whose cells of the ring are fetched, too.
__attribute__((always_inline)) static inline uint64_t run_bound(struct delivery *d, const size_t ahead,
                                                                const size_t cells_ahead) {
    const uint32_t size = ring_size(&d->ring), length = d->length;
    const uint32_t *synapse = d->synapses + before_lists;
    uint64_t events = 0;
    while (events < events_per_run) {
        size_t n;
        const uint32_t *lists = next_batch(d, &n);
        const uint32_t row = d->step * neurons;
        for (size_t i = 0; i < n && i < ahead; i++)
            fetch_list(synapse + (size_t)lists[i] * length, length, cells_ahead > 0);
        for (size_t i = 0; i < n && i < cells_ahead; i++)
            fetch_cells(synapse + (size_t)lists[i] * length, length, row, &d->ring);
        for (size_t i = 0; i < n; i++, events += length) {
            const uint32_t *at = synapse + (size_t)lists[i] * length, *end = at + length;
            if (ahead && i + ahead < n)
                fetch_list(synapse + (size_t)lists[i + ahead] * length, length, cells_ahead > 0);
            if (cells_ahead && i + cells_ahead < n)
                fetch_cells(synapse + (size_t)lists[i + cells_ahead] * length, length, row, &d->ring);
            for (; ahead && end - at > lines_ahead * line; at += line) {
                __builtin_prefetch(at + lines_ahead * line);
                add(at, at + line, row, size, d->ring.cells);
            }
            add(at, end, row, size, d->ring.cells);
        }
    }
    return events;
}

static uint64_t run_bound_plain(void *state) {
    return run_bound(state, 0, 0);
}
/// The fastest of the loops that were tried: cells of the ring are worth fetching for short lists only.
static uint64_t run_bound_prefetch(void *state) {
    struct delivery *d = state;
    return d->length < few ? run_bound(d, 24, 8) : run_bound(d, 8, 0);
}

size_t kernels_deliver(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"deliver_bound", "synapse", list_lengths, NULL, open_delivery, run_bound_plain, close_delivery,
         NULL},
        {"deliver_bound_prefetch", "synapse", list_lengths, NULL, open_delivery, run_bound_prefetch,
         close_delivery, NULL},
        {"deliver", "synapse", list_lengths, NULL, open_delivery, run_deliver, close_delivery, NULL},
        {"deliver_own_weights", "synapse", list_lengths, &own_weights, open_delivery, run_deliver,
         close_delivery, NULL},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
