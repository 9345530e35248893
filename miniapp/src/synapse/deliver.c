#include "synapse/block.h"
#include "synapse/table.h"

/// Says where the weight of a synapse is.
enum weight_place { of_all, of_class, of_synapse };

/// The number of words per synapse.
#define WORDS(where) ((size_t)((where) == of_synapse ? 2 : 1))

enum {
    line = 64 / sizeof(uint32_t), ///< words of a cache line
    lines_ahead = 6,              ///< of a list, fetched before it is entered, and then ahead of its reading
    few = 8,                      ///< synapses of a list on the mean, below which two lines will do
    near_ring = 1 << 20           ///< bytes of a ring that stays in the second cache
};

/// What stays the same while spikes are delivered. Every loop has a copy of its own: stores to cells could
/// change what pointers lead to, which would then be read again for every spike.
struct delivery {
    struct synapse_table table;
    struct spike_format spikes;
    uint32_t slot; ///< of the ring, for the first step of the window
    struct ring ring;
};

/// Fetches the second to sixth line of the list of words first ... end - 1. Lists begin anywhere in a line,
/// and the hardware starts to fetch ahead too late for them. The function is always inlined, because GCC
/// drops calls of a function that only fetches.
__attribute__((always_inline)) static inline void fetch_more(const uint32_t *words, size_t first,
                                                             size_t end) {
    const size_t last = end - (end > first);
    __builtin_prefetch(words + (first + line < last ? first + line : last));
    if (end - first <= line) return; // the list lies in two lines at most
    for (size_t word = first + 2 * line; word < first + lines_ahead * line; word += line)
        __builtin_prefetch(words + (word < last ? word : last));
}

/// Adds some synapses of a list to the ring; `row` is the place of the row of the spike's step. The constants
/// `narrow`, `where` and `named` make loops of this one, each without any branch but its own. With `named`,
/// the name of the list stands above the class.
__attribute__((always_inline)) static inline void
deliver_some(const uint32_t *restrict synapse, const uint32_t *end, const struct synapse_format *format,
             uint32_t row, uint32_t size, void *restrict cells, const bool narrow,
             const enum weight_place where, const bool named) {
    const unsigned bits = format->place_bits;
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    const uint32_t used = (uint32_t)(((uint64_t)1 << format->used_bits) - 1);
    const int32_t *restrict weights = format->weights;
    const int32_t first_weight = where == of_all ? weights[0] : 0;
    for (; synapse < end; synapse += WORDS(where)) {
        const uint32_t ahead = (*synapse & mask) + row, wrapped = ahead - size;
        const uint32_t place = wrapped < ahead ? wrapped : ahead; // ahead modulo size
        const int32_t weight = where == of_all     ? first_weight
                               : where == of_class ? weights[(named ? *synapse & used : *synapse) >> bits]
                                                   : (int32_t)synapse[1];
        if (narrow)
            ((int16_t *)cells)[place] = (int16_t)(((int16_t *)cells)[place] + weight);
        else
            ((int32_t *)cells)[place] += weight;
    }
}

/// Adds a whole list to the ring. Its first lines have been fetched already, the others are fetched here, and
/// loops of constant length go through the lines.
__attribute__((always_inline)) static inline void
deliver_list(const uint32_t *synapse, const uint32_t *end, const struct synapse_format *format, uint32_t row,
             uint32_t size, void *cells, const bool narrow, const enum weight_place where) {
    for (; end - synapse > lines_ahead * line; synapse += line) {
        __builtin_prefetch(synapse + lines_ahead * line);
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where, false);
    }
    for (; end - synapse >= line; synapse += line)
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where, false);
    deliver_some(synapse, end, format, row, size, cells, narrow, where, false);
}

/// Returns the place of the row of the ring for the step of a spike.
static inline uint32_t row_of(const struct delivery *d, uint32_t word) {
    uint32_t slot = d->slot + spike_step(d->spikes, word);
    if (slot >= d->ring.slots) slot -= d->ring.slots;
    return slot * d->ring.neurons;
}

/// Fetches what `at` points to into the second cache. This suits indices, which are read much later: what is
/// on its way to the first cache holds one of its few places for misses.
__attribute__((always_inline)) static inline void fetch_index(const void *at) {
    __builtin_prefetch(at, 0, 2);
}

// Each loop below fetches what spikes need some spikes ahead of its use. What the first spikes need is
// fetched before the loop: few spikes arrive in a cycle of a large machine, and without it most would wait
// for it.

static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/// Fetches the first lines of the list that a spike names, whose start has been fetched.
__attribute__((always_inline)) static inline void fetch_list(const struct delivery *d, uint32_t word,
                                                             const enum weight_place where) {
    const uint32_t *start = &d->table.start[spike_list(d->spikes, word)];
    const size_t first = WORDS(where) * start[0];
    __builtin_prefetch(d->table.synapses + first);
    fetch_more(d->table.synapses, first, WORDS(where) * start[1]);
}

/// Delivers from a table with a start for every list, where lists are long.
__attribute__((always_inline)) static inline struct delivered deliver_lists(const struct delivery *d,
                                                                            const uint32_t *words, size_t n,
                                                                            const bool narrow,
                                                                            const enum weight_place where) {
    enum { starts = 16, lists = 8 }; // spikes; how far ahead they are fetched
    const struct synapse_table *table = &d->table;
    const uint32_t *start = table->start;
    const uint32_t size = ring_size(&d->ring);
    struct delivered delivered = {0, 0, 0};
    for (size_t i = 0; i < smaller(n, starts); i++)
        __builtin_prefetch(&start[spike_list(d->spikes, words[i])]);
    for (size_t i = 0; i < smaller(n, lists); i++) fetch_list(d, words[i], where);
    for (size_t i = 0; i < n; i++) {
        if (i + starts < n) __builtin_prefetch(&start[spike_list(d->spikes, words[i + starts])]);
        if (i + lists < n) fetch_list(d, words[i + lists], where);
        uint32_t list = spike_list(d->spikes, words[i]), first = start[list], end = start[list + 1];
        deliver_list(table->synapses + WORDS(where) * first, table->synapses + WORDS(where) * end,
                     &table->format, row_of(d, words[i]), size, d->ring.cells, narrow, where);
        delivered.synaptic_events += end - first;
        delivered.first_accesses += end > first;
    }
    return delivered;
}

/// Fetches the cells of the first synapses of the list that a spike names, which itself has been fetched.
__attribute__((always_inline)) static inline void
fetch_cells(const struct delivery *d, uint32_t word, const bool narrow, const enum weight_place where) {
    enum { cells_ahead = 4 };
    const size_t bytes = narrow ? sizeof(int16_t) : sizeof(int32_t);
    const uint32_t mask = ((uint32_t)1 << d->table.format.place_bits) - 1, size = ring_size(&d->ring);
    const uint32_t *start = &d->table.start[spike_list(d->spikes, word)], row = row_of(d, word);
    for (uint32_t k = 0; k < cells_ahead; k++) {
        const uint32_t i = start[0] + k < start[1] ? start[0] + k : start[0];
        const uint32_t ahead = (d->table.synapses[WORDS(where) * i] & mask) + row;
        const uint32_t wrapped = ahead - size, place = wrapped < ahead ? wrapped : ahead;
        __builtin_prefetch((char *)d->ring.cells + bytes * place, 1);
    }
}

/// Fetches both ends of the short list that a spike names, whose start has been fetched.
__attribute__((always_inline)) static inline void fetch_short_list(const struct delivery *d, uint32_t word,
                                                                   const enum weight_place where) {
    const uint32_t *start = &d->table.start[spike_list(d->spikes, word)];
    __builtin_prefetch(d->table.synapses + WORDS(where) * start[0]);
    __builtin_prefetch(d->table.synapses + WORDS(where) * (start[1] - (start[1] > start[0])));
}

/// Delivers from a table with a start for every list, where lists are short. There the misses of a spike
/// follow from each other, and are fetched one stage after the other: its start, its list, and the cells of a
/// ring that is `far`.
__attribute__((always_inline)) static inline struct delivered
deliver_short(const struct delivery *d, const uint32_t *words, size_t n, const bool narrow,
              const enum weight_place where, const bool far) {
    enum { starts = 64, lists = 32, cells = 16 }; // spikes; how far ahead they are fetched
    const uint32_t *start = d->table.start, *synapses = d->table.synapses;
    const uint32_t size = ring_size(&d->ring);
    struct delivered delivered = {0, 0, 0};
    for (size_t i = 0; i < smaller(n, starts); i++) fetch_index(&start[spike_list(d->spikes, words[i])]);
    for (size_t i = 0; i < smaller(n, lists); i++) fetch_short_list(d, words[i], where);
    for (size_t i = 0; far && i < smaller(n, cells); i++) fetch_cells(d, words[i], narrow, where);
    for (size_t i = 0; i < n; i++) {
        if (i + starts < n) fetch_index(&start[spike_list(d->spikes, words[i + starts])]);
        if (i + lists < n) fetch_short_list(d, words[i + lists], where);
        if (far && i + cells < n) fetch_cells(d, words[i + cells], narrow, where);
        const uint32_t list = spike_list(d->spikes, words[i]), first = start[list], end = start[list + 1];
        deliver_some(synapses + WORDS(where) * first, synapses + WORDS(where) * end, &d->table.format,
                     row_of(d, words[i]), size, d->ring.cells, narrow, where, false);
        delivered.synaptic_events += end - first;
        delivered.first_accesses += end > first;
    }
    return delivered;
}

/// Fetches the words among which the list lies that a spike names, where lists share starts.
__attribute__((always_inline)) static inline void fetch_block(const struct delivery *d, uint32_t word,
                                                              const enum weight_place where) {
    const uint32_t *start = &d->table.start[spike_list(d->spikes, word) >> d->table.index.block_bits];
    const uint32_t *first = d->table.synapses + WORDS(where) * start[0];
    const uint32_t *end = d->table.synapses + WORDS(where) * start[1];
    __builtin_prefetch(first);
    __builtin_prefetch(end - first > search_words ? end - 1 : first + search_words - 1);
}

/// Delivers from a table with a start for every block of lists, whose synapses name their list.
__attribute__((always_inline)) static inline struct delivered deliver_blocks(const struct delivery *d,
                                                                             const uint32_t *words, size_t n,
                                                                             const bool narrow,
                                                                             const enum weight_place where) {
    enum { starts = 32, blocks = 16 }; // spikes; how far ahead they are fetched
    const struct synapse_table *table = &d->table;
    const uint32_t *start = table->start;
    const unsigned block_bits = table->index.block_bits, used_bits = table->format.used_bits;
    const uint32_t within = ((uint32_t)1 << block_bits) - 1, size = ring_size(&d->ring);
    struct delivered delivered = {0, 0, 0};
    for (size_t i = 0; i < smaller(n, starts); i++)
        fetch_index(&start[spike_list(d->spikes, words[i]) >> block_bits]);
    for (size_t i = 0; i < smaller(n, blocks); i++) fetch_block(d, words[i], where);
    for (size_t i = 0; i < n; i++) {
        if (i + starts < n) fetch_index(&start[spike_list(d->spikes, words[i + starts]) >> block_bits]);
        if (i + blocks < n) fetch_block(d, words[i + blocks], where);
        const uint32_t list = spike_list(d->spikes, words[i]), name = list & within;
        const struct span_of_words block = {table->synapses + WORDS(where) * start[list >> block_bits],
                                            table->synapses + WORDS(where) * start[(list >> block_bits) + 1]};
        const struct span_of_words found = find_list(block, name, used_bits, WORDS(where));
        deliver_some(found.first, found.end, &table->format, row_of(d, words[i]), size, d->ring.cells, narrow,
                     where, true);
        delivered.synaptic_events += (size_t)(found.end - found.first) / WORDS(where);
        delivered.first_accesses += found.end > found.first;
    }
    return delivered;
}

/// Copies the spikes that the filter lets through. \return how many they are.
static size_t pass_filter(const struct delivery *d, const uint32_t *words, size_t n, uint32_t *passed) {
    enum { ahead = 32 };
    const uint64_t *filter = d->table.filter;
    const unsigned shift = d->table.index.filter_bits;
    size_t m = 0;
    for (size_t i = 0; i < smaller(n, ahead); i++)
        fetch_index(&filter[(spike_list(d->spikes, words[i]) >> shift) / 64]);
    for (size_t i = 0; i < n; i++) {
        if (i + ahead < n) fetch_index(&filter[(spike_list(d->spikes, words[i + ahead]) >> shift) / 64]);
        const uint32_t bit = spike_list(d->spikes, words[i]) >> shift;
        passed[m] = words[i];
        m += filter[bit / 64] >> bit % 64 & 1;
    }
    return m;
}

/// Delivers by the loop that suits the lengths of the lists.
__attribute__((always_inline)) static inline struct delivered deliver_as(const struct delivery *d,
                                                                         const uint32_t *words, size_t n,
                                                                         const bool narrow,
                                                                         const enum weight_place where) {
    const struct delivery own = *d;
    if (own.table.index.block_bits > 0) return deliver_blocks(&own, words, n, narrow, where);
    if (synapse_table_size(&own.table) / few >= own.table.index.lists)
        return deliver_lists(&own, words, n, narrow, where);
    if (ring_bytes(&own.ring) > near_ring) return deliver_short(&own, words, n, narrow, where, true);
    return deliver_short(&own, words, n, narrow, where, false);
}

static struct delivered deliver(const struct delivery *d, const uint32_t *words, size_t n) {
    const uint32_t classes = d->table.format.classes;
    if (classes == 0) return deliver_as(d, words, n, false, of_synapse);
    if (d->ring.narrow && classes == 1) return deliver_as(d, words, n, true, of_all);
    if (d->ring.narrow) return deliver_as(d, words, n, true, of_class);
    if (classes == 1) return deliver_as(d, words, n, false, of_all);
    return deliver_as(d, words, n, false, of_class);
}

struct delivered synapse_table_deliver(const struct synapse_table *table, const uint32_t *words, size_t n,
                                       struct spike_format spikes, uint32_t window, struct ring *ring) {
    enum { chunk = 256 }; // spikes that go through the filter at a time
    const struct delivery d = {*table, spikes, window % ring->slots, *ring};
    struct delivered sum = {0, 0, 0};
    if (n == 0 || synapse_table_size(table) == 0) return sum;
    if (!table->filter) {
        sum = deliver(&d, words, n);
    } else {
        uint32_t passed[chunk];
        for (size_t i = 0; i < n; i += chunk) {
            const size_t m = pass_filter(&d, words + i, n - i < chunk ? n - i : chunk, passed);
            const struct delivered some = deliver(&d, passed, m);
            sum.synaptic_events += some.synaptic_events;
            sum.first_accesses += some.first_accesses;
        }
    }
    sum.lookups = n;
    return sum;
}
