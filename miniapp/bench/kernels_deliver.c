/// \file
/// The delivery of spikes: the mini-app's, and the bound that the memory sets.
///
/// The bound does only what no delivery can avoid: it starts at a random list of L contiguous packed synapses
/// and adds to a random place of the ring buffer for each of them. It works on the same synapses, the same
/// ring and the same order of lists as the mini-app's kernel: 20 000 neurons, delays up to 20 ms and 20
/// million synapses, which is the network of the MAM-benchmark on one thread. Lists begin within cache lines,
/// as those of a network do. The bound knows its lists beforehand and has a single weight. Delivery with a
/// weight in every synapse, eight bytes, adds to 32-bit cells.
///
/// `deliver_reference` is the plain delivery of synapse/deliver_reference.c, on the same lists: the ratio of
/// both says what tuning is worth, and how the mini-app would compare with a simulator that fetches nothing
/// ahead.
///
/// `deliver_drawn` has lists of Poisson lengths, as a network that was drawn, for `spikemark calibrate`: some
/// are empty and none is as long as the one before. Its size is the number of synapses in 16 lists, on the
/// mean: four times as many lists as synapses, up to 512 synapses in each. Synapses do not fit into caches
/// (up to 20 million), the ring buffer does (5000 neurons, delays up to 20 steps), as on a thread of a large
/// network.

#include "kernels.h"

#include "base/rng.h"
#include "description/delay.h"
#include "synapse/table.h"

enum { synapses = 20000000, events_per_batch = 5000, events_per_run = 200000 };
enum { neurons = 20000, longest = 200, before_lists = 5 }; // synapses
enum { drawn_neurons = 5000, drawn_longest = 20, lists_of_size = 16, drawn_lists = 16000000 };
enum { line = 16, lines_ahead = 6, few = 8 }; // synapses of four bytes, except lines_ahead

static const int64_t list_lengths[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1024, 0};
static const int64_t drawn_sizes[] = {4, 16, 64, 256, 1024, 8192, 0};
static const int32_t weight = 1;
static const bool own_weights = true; ///< the variant of kernels whose synapses hold their weights

struct delivery {
    struct synapse_table table;
    uint32_t *synapses; ///< that name no list
    struct ring ring;
    uint32_t *lists;             ///< in a random order, long enough not to be learned by the caches
    size_t n_lists, batch, next; ///< in that order; of a cycle; place of the next cycle
    uint32_t step, length;       ///< of lists of one length
};

/// Opens a set of all ids below `n`, numbered.
static struct id_set all_below(uint32_t n, unsigned bits) {
    struct id_set set;
    id_set_open(&set, n, bits);
    uint64_t *present = ALLOC(uint64_t, (((size_t)1 << bits) + 63) / 64);
    for (uint32_t k = 0; k < set.buckets; k++) {
        memset(present, 0, (((size_t)1 << bits) + 63) / 64 * sizeof *present);
        for (uint64_t i = 0, id = (uint64_t)k << bits; i < (uint64_t)1 << bits && id + i < n; i++)
            present[i / 64] |= (uint64_t)1 << i % 64;
        id_set_fill(&set, k, present);
    }
    free(present);
    id_set_number(&set);
    return set;
}

/// Makes the table of `lists` lists. List l is packed[start[l]] up to packed[start[l + 1]] of synapses that
/// name no list. A table with a start for every list uses `packed` and `start` themselves.
static struct synapse_table table_of_lists(struct synapse_format format, uint32_t lists, uint32_t *start,
                                           uint32_t *packed) {
    const size_t words = synapse_words(&format);
    struct synapse_table table = {.format = format, .synapses = packed, .size = start[lists] - start[0]};
    table.index = synapse_index(&format, lists, table.size);
    if (table.index.most_lists == 0 && table.index.filter_words == 0) {
        table.index = (struct synapse_index){.lists = lists};
        table.start = start;
        return table;
    }
    struct buckets buckets;
    const unsigned bits = buckets_source_bits(&format, lists, lists, lists);
    buckets_open(&buckets, format, bits, lists);
    for (uint32_t l = 0; l < lists; l++) buckets.end[l >> bits] += start[l + 1] - start[l];
    buckets_allocate(&buckets);
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t i = start[l]; i < start[l + 1]; i++)
            if (words == 1)
                buckets_put(&buckets, l, packed[i]);
            else
                buckets_put_own(&buckets, l, packed[2 * (size_t)i], (int32_t)packed[2 * (size_t)i + 1]);
    struct id_set sources = all_below(lists, id_set_bits(lists, bits, 1));
    synapse_table_open(&table, &buckets, &sources);
    id_set_close(&sources);
    free(start);
    return table;
}

/// The packed synapses, the same for all lengths of lists. They are drawn once.
static uint32_t *shared_synapses(const struct synapse_format *format) {
    static uint32_t *kept[2];
    const size_t words = synapse_words(format);
    if (kept[words - 1]) return kept[words - 1];
    struct delay near, far;
    delay_open(&near, false, 1.5, 0.75, 0.1, 20, 0.1);
    delay_open(&far, false, 5, 2.5, 1, 20, 0.1);
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

static void *open_delivery(const void *variant, int64_t size) {
    const bool own = variant == &own_weights;
    struct delivery *d = ALLOC_ZERO(struct delivery, 1);
    struct synapse_format format;
    struct error error = {""};
    d->length = (uint32_t)size;
    d->batch = size < events_per_batch ? (size_t)(events_per_batch / size) : 1;
    d->n_lists = (synapses - before_lists) / d->length;
    synapse_format(&format, neurons, longest, own ? NULL : &weight, own ? 0 : 1, &error);
    d->synapses = shared_synapses(&format);
    uint32_t *start = ALLOC(uint32_t, d->n_lists + 1);
    for (uint32_t l = 0; l <= d->n_lists; l++) start[l] = before_lists + l * d->length;
    d->table = table_of_lists(format, (uint32_t)d->n_lists, start, d->synapses);
    d->lists = ALLOC(uint32_t, d->n_lists);
    for (uint32_t l = 0; l < d->n_lists; l++) {
        struct rng_words drawn = rng_draw(2, rng_synapse, 0, 0, l);
        d->lists[l] = rng_below(drawn.word[0], drawn.word[1], (uint32_t)d->n_lists);
    }
    d->ring = ring_open(neurons, longest, !own);
    return d;
}

/// Returns a number below `end`, as even as 32 bits allow: the i-th of the sequence `seed`.
static uint32_t draw(uint32_t seed, uint32_t i, uint32_t end) {
    return (uint32_t)((uint64_t)rng_draw(seed, rng_synapse, 0, 0, i / 4).word[i % 4] * end >> 32);
}

/// Deals `n` synapses to the lists at random. \return [lists + 1] where each begins.
static uint32_t *deal(uint32_t lists, uint32_t n) {
    uint32_t before = 0, *start = ALLOC_ZERO(uint32_t, (size_t)lists + 1);
    for (uint32_t i = 0; i < n / 4 * 4; i++) start[draw(2, i, lists)]++;
    for (uint32_t l = 0; l <= lists; l++) {
        const uint32_t count = start[l];
        start[l] = before;
        before += count;
    }
    return start;
}

static void *open_drawn(const void *variant, int64_t size) {
    enum { most_spikes = 2000000 };
    (void)variant;
    static uint32_t *shared; // synapses, the same for all sizes
    struct delivery *d = ALLOC_ZERO(struct delivery, 1);
    struct synapse_format format;
    struct error error = {""};
    const int64_t wanted = (int64_t)synapses * lists_of_size / size;
    const uint32_t lists = wanted < drawn_lists ? (uint32_t)wanted : drawn_lists;
    synapse_format(&format, drawn_neurons, drawn_longest, &weight, 1, &error);
    if (!shared) {
        shared = ALLOC(uint32_t, synapses);
        for (uint32_t i = 0; i < synapses; i++) {
            struct rng_words drawn = rng_draw(1, rng_synapse, 0, 0, i);
            const uint32_t delay = 1 + (uint32_t)((uint64_t)drawn.word[2] * drawn_longest >> 32);
            const uint32_t target = rng_below(drawn.word[0], drawn.word[1], drawn_neurons);
            shared[i] = synapse_pack(&format, target, delay, 0);
        }
    }
    uint32_t *start = deal(lists, (uint32_t)((int64_t)lists * size / lists_of_size));
    d->table = table_of_lists(format, lists, start, shared);
    d->n_lists = lists < most_spikes ? lists / 4 * 4 : most_spikes;
    d->lists = ALLOC(uint32_t, d->n_lists);
    for (uint32_t i = 0; i < d->n_lists; i++) d->lists[i] = draw(3, i, lists);
    d->batch = (size_t)(events_per_batch * lists_of_size / size);
    d->ring = ring_open(drawn_neurons, drawn_longest, true);
    return d;
}

/// Returns the next batch of lists: on the mean 5000 synaptic events, as the benchmark network has per cycle.
static const uint32_t *next_batch(struct delivery *d) {
    if (d->next + d->batch > d->n_lists) d->next = 0;
    const uint32_t *lists = d->lists + d->next;
    d->next += d->batch;
    d->step = (d->step + 1) % d->ring.slots;
    return lists;
}

/// Delivers batches until there are events enough. \return the synaptic events.
static uint64_t run_with(struct delivery *d, delivery_function *deliver) {
    uint64_t events = 0;
    while (events < events_per_run)
        events +=
            deliver(&d->table, next_batch(d), d->batch, spike_format(1), d->step, &d->ring).synaptic_events;
    return events;
}

static uint64_t run_deliver(void *state) {
    return run_with(state, deliver_tuned);
}

/// What `delivery: reference` of a run description does, on the same synapses and in the same order.
static uint64_t run_deliver_reference(void *state) {
    return run_with(state, deliver_reference);
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
ALWAYS_INLINE void fetch_list(const uint32_t *at, uint32_t length, const bool brief) {
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
ALWAYS_INLINE uint64_t run_bound(struct delivery *d, const size_t ahead, const size_t cells_ahead) {
    const uint32_t size = ring_size(&d->ring), length = d->length;
    const uint32_t *synapse = d->synapses + before_lists;
    uint64_t events = 0;
    while (events < events_per_run) {
        const size_t n = d->batch;
        const uint32_t *lists = next_batch(d);
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

size_t kernels_deliver(struct kernel *kernels) {
    static const struct kernel mine[] = {
        {"deliver_bound", "synapse", list_lengths, NULL, open_delivery, run_bound_plain},
        {"deliver_bound_prefetch", "synapse", list_lengths, NULL, open_delivery, run_bound_prefetch},
        {"deliver", "synapse", list_lengths, NULL, open_delivery, run_deliver},
        {"deliver_reference", "synapse", list_lengths, NULL, open_delivery, run_deliver_reference},
        {"deliver_own_weights", "synapse", list_lengths, &own_weights, open_delivery, run_deliver},
        {"deliver_drawn", "synapse", drawn_sizes, NULL, open_drawn, run_deliver},
    };
    memcpy(kernels, mine, sizeof mine);
    return sizeof mine / sizeof *mine;
}
