#include "synapse/table.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Returns how many bits tell `values` values from each other.
static unsigned bits_for(uint64_t values) {
    unsigned bits = 0;
    while (bits < 64 && ((uint64_t)1 << bits) < values) bits++;
    return bits;
}

bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error) {
    const unsigned place = bits_for(((uint64_t)longest_delay + 1) * neurons);
    const unsigned weight = bits_for(classes);
    *format = (struct synapse_format){
        .neurons = neurons, .place_bits = place > 0 ? place : 1, .classes = classes, .weights = weights};
    if (place <= 31 && format->place_bits + weight <= 32) return true;
    return error_set(
        error,
        "network: %u neurons per thread x %u delays, %u bits, and %u weights, %u bits, do not fit "
        "a synapse; allowed: 31 bits, 32 in all, so take more ranks or threads, or fewer classes "
        "of weights",
        neurons, longest_delay + 1, place, classes ? classes : 1, weight);
}

void synapse_table_open(struct synapse_table *table, struct synapse_format format, uint32_t lists) {
    *table = (struct synapse_table){.format = format, .lists = lists};
    table->start = ALLOC_ZERO(uint32_t, (size_t)lists + 1);
}

bool synapse_table_allocate(struct synapse_table *table, struct error *error) {
    uint64_t sum = 0;
    for (uint32_t list = 0; list < table->lists; list++) {
        sum += table->start[list];
        if (sum > UINT32_MAX)
            return error_set(
                error, "network: more than 4294967295 synapses on a thread; take more ranks or threads");
        table->start[list] = (uint32_t)sum;
    }
    table->start[table->lists] = (uint32_t)sum;
    table->synapses = alloc(sum, synapse_bytes(&table->format));
    return true;
}

void synapse_table_close(struct synapse_table *table) {
    free(table->start);
    free(table->synapses);
}

/// Says where the weight of a synapse is.
enum weight_place { of_all, of_class, of_synapse };

/// The number of words per synapse.
#define WORDS(where) ((size_t)((where) == of_synapse ? 2 : 1))

enum {
    line = 64 / sizeof(uint32_t), ///< words of a cache line
    lines_ahead = 6,              ///< of a list, fetched before it is entered, and then ahead of its reading
    few = 4                       ///< synapses of a list on the mean, below which its first line will do
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
/// `narrow` and `where` make five loops of this one, each without any branch but its own.
__attribute__((always_inline)) static inline void
deliver_some(const uint32_t *restrict synapse, const uint32_t *end, const struct synapse_format *format,
             uint32_t row, uint32_t size, void *restrict cells, const bool narrow,
             const enum weight_place where) {
    const unsigned bits = format->place_bits;
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    const int32_t *restrict weights = format->weights;
    const int32_t first_weight = where == of_all ? weights[0] : 0;
    for (; synapse < end; synapse += WORDS(where)) {
        const uint32_t ahead = (*synapse & mask) + row, wrapped = ahead - size;
        const uint32_t place = wrapped < ahead ? wrapped : ahead; // ahead modulo size
        const int32_t weight = where == of_all     ? first_weight
                               : where == of_class ? weights[*synapse >> bits]
                                                   : (int32_t)synapse[1];
        if (narrow)
            ((int16_t *)cells)[place] = (int16_t)(((int16_t *)cells)[place] + weight);
        else
            ((int32_t *)cells)[place] += weight;
    }
}

/// Adds a whole list to the ring. With `longer`, its first lines have been fetched already, the others are
/// fetched here, and loops of constant length go through the lines.
__attribute__((always_inline)) static inline void
deliver_list(const uint32_t *synapse, const uint32_t *end, const struct synapse_format *format, uint32_t row,
             uint32_t size, void *cells, const bool narrow, const enum weight_place where,
             const bool longer) {
    for (; longer && end - synapse > lines_ahead * line; synapse += line) {
        __builtin_prefetch(synapse + lines_ahead * line);
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where);
    }
    for (; longer && end - synapse >= line; synapse += line)
        deliver_some(synapse, synapse + line, format, row, size, cells, narrow, where);
    deliver_some(synapse, end, format, row, size, cells, narrow, where);
}

__attribute__((always_inline)) static inline struct delivered
deliver_all(const struct synapse_table *table, const uint32_t *words, size_t n, struct spike_format spikes,
            uint32_t window, struct ring *ring, const bool narrow, const enum weight_place where,
            const bool longer) {
    enum { ahead = 16 }; // spikes; starts of lists are fetched this far ahead, first lines half as far
    const uint32_t *start = table->start;
    const uint32_t size = ring_size(ring), slot = window % ring->slots;
    struct delivered delivered = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (i + ahead < n) __builtin_prefetch(&start[spike_list(spikes, words[i + ahead])]);
        if (i + ahead / 2 < n) {
            const uint32_t soon = spike_list(spikes, words[i + ahead / 2]);
            const size_t first = WORDS(where) * start[soon];
            __builtin_prefetch(table->synapses + first);
            if (longer) fetch_more(table->synapses, first, WORDS(where) * start[soon + 1]);
        }

        uint32_t list = spike_list(spikes, words[i]), first = start[list], end = start[list + 1];
        uint32_t row_slot = slot + spike_step(spikes, words[i]);
        if (row_slot >= ring->slots) row_slot -= ring->slots;
        deliver_list(table->synapses + WORDS(where) * first, table->synapses + WORDS(where) * end,
                     &table->format, row_slot * ring->neurons, size, ring->cells, narrow, where, longer);
        delivered.synaptic_events += end - first;
        delivered.first_accesses += end > first;
    }
    return delivered;
}

/// Delivers with or without fetching later lines, since looking for them costs time where lists have none.
__attribute__((always_inline)) static inline struct delivered
deliver_as(const struct synapse_table *table, const uint32_t *words, size_t n, struct spike_format spikes,
           uint32_t window, struct ring *ring, const bool narrow, const enum weight_place where) {
    if (synapse_table_size(table) / few < table->lists)
        return deliver_all(table, words, n, spikes, window, ring, narrow, where, false);
    return deliver_all(table, words, n, spikes, window, ring, narrow, where, true);
}

struct delivered synapse_table_deliver(const struct synapse_table *table, const uint32_t *words, size_t n,
                                       struct spike_format spikes, uint32_t window, struct ring *ring) {
    if (n == 0 || synapse_table_size(table) == 0) return (struct delivered){0, 0};
    const uint32_t classes = table->format.classes;
    if (classes == 0) return deliver_as(table, words, n, spikes, window, ring, false, of_synapse);
    if (ring->narrow && classes == 1) return deliver_as(table, words, n, spikes, window, ring, true, of_all);
    if (ring->narrow) return deliver_as(table, words, n, spikes, window, ring, true, of_class);
    if (classes == 1) return deliver_as(table, words, n, spikes, window, ring, false, of_all);
    return deliver_as(table, words, n, spikes, window, ring, false, of_class);
}
