#include "synapse/table.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/// Returns how many bits tell `values` values from each other.
static unsigned bits_for(uint64_t values) {
    return values > 1 ? 64 - (unsigned)__builtin_clzll(values - 1) : 0;
}

bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error) {
    const unsigned place = bits_for(((uint64_t)longest_delay + 1) * neurons);
    const unsigned weight = bits_for(classes);
    *format = (struct synapse_format){
        .neurons = neurons, .place_bits = place > 0 ? place : 1, .classes = classes, .weights = weights};
    format->used_bits = format->place_bits + weight;
    if (place <= 31 && format->used_bits <= 32) return true;
    return error_set(
        error,
        "network: %u neurons per thread x %u delays, %u bits, and %u weights, %u bits, do not fit "
        "a synapse; allowed: 31 bits, 32 in all, so take more ranks or threads, or fewer classes "
        "of weights",
        neurons, longest_delay + 1, place, classes ? classes : 1, weight);
}

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

struct synapse_index synapse_index(uint32_t lists, uint64_t synapses, unsigned spare_bits) {
    enum { block_synapses = 8, filter_bits_per_synapse = 8, most_bits = 31 };
    struct synapse_index index = {.lists = lists};
    const bool sparse = synapses > 0 && synapses < lists;
    if (sparse) {
        // 2^b lists hold 8 synapses on the mean from b = log2(8 lists / synapses) on, rounded up.
        const unsigned full = bits_for(((uint64_t)block_synapses * lists + synapses - 1) / synapses);
        const unsigned one_block = bits_for((uint64_t)lists + 1) - 1;
        index.block_bits = least(least(full, one_block), least(spare_bits, most_bits));
        // lists / 2^f, rounded down, is at most 8 synapses from f = log2(lists / (8 synapses + 1)) on.
        index.filter_bits = bits_for(lists / (synapses * filter_bits_per_synapse + 1) + 1);
        index.filter_words = ((lists - 1) >> index.filter_bits) / 64 + 1;
    }
    index.blocks = (uint32_t)((lists + ((uint64_t)1 << index.block_bits) - 1) >> index.block_bits);
    return index;
}

/// What sorts one bucket after the other.
struct sorting {
    struct synapse_table *table;
    const uint16_t *low; ///< [count] low bits of the sources of the bucket's lists
    uint32_t count;      ///< of its lists
    uint32_t list;       ///< number of the first
    uint32_t *name;      ///< [sources of a bucket] name of the list within its block; NULL without blocks
    uint32_t *next;      ///< [sources of a bucket] place of the next synapse of the list
    uint32_t *sorted;    ///< synapses of a bucket
};

/// Finds the lists of a bucket, which follow those of the one before.
static void next_lists(struct sorting *sorting, const struct buckets *buckets, uint32_t bucket,
                       const struct id_set *sources) {
    const unsigned wider = sources->bits - buckets->source_bits;
    const struct id_bucket *all = &sources->bucket[bucket >> wider];
    const uint32_t within = bucket & (((uint32_t)1 << wider) - 1);
    sorting->list += sorting->count;
    const uint32_t first = sorting->list - all->first;
    uint32_t end = first;
    while (end < all->count && (uint32_t)all->low[end] >> buckets->source_bits == within) end++;
    sorting->low = end > first ? all->low + first : NULL; // a bucket without lists has no place for them
    sorting->count = end - first;
}

/// Counts the synapses of the lists of a bucket, and notes where its lists and their blocks begin.
static void begin_lists(const struct sorting *sorting, const struct buckets *buckets, uint32_t bucket) {
    const uint32_t first = buckets_first(buckets, bucket), end = buckets->end[bucket];
    const uint32_t low = ((uint32_t)1 << buckets->source_bits) - 1;
    struct synapse_table *table = sorting->table;
    const uint32_t within = ((uint32_t)1 << table->index.block_bits) - 1;
    for (uint32_t j = 0; j < sorting->count; j++) sorting->next[sorting->low[j] & low] = 0;
    for (uint32_t i = first; i < end; i++) sorting->next[buckets_source(buckets, i)]++;
    for (uint32_t j = 0, at = 0; j < sorting->count; j++) {
        const uint32_t source = sorting->low[j] & low, list = sorting->list + j;
        const uint32_t count = sorting->next[source];
        if ((list & within) == 0) table->start[list >> table->index.block_bits] = first + at;
        if (count > 0 && table->filter) {
            const uint32_t bit = list >> table->index.filter_bits;
            table->filter[bit / 64] |= (uint64_t)1 << bit % 64;
        }
        if (sorting->name) sorting->name[source] = list & within;
        sorting->next[source] = at;
        at += count;
    }
}

/// Puts the synapses of a bucket in the order of their lists, and the number of the list within its block in
/// the place of the source.
static void sort_bucket(const struct sorting *sorting, const struct buckets *buckets, uint32_t bucket) {
    const size_t words = synapse_words(&buckets->format);
    const uint32_t first = buckets_first(buckets, bucket), end = buckets->end[bucket];
    const struct synapse_table *table = sorting->table;
    const uint64_t used = ((uint64_t)1 << table->format.used_bits) - 1;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t *synapse = buckets->synapses + words * i;
        const uint32_t source = buckets_source(buckets, i);
        uint32_t *at = sorting->sorted + words * sorting->next[source]++;
        const uint64_t name = sorting->name ? sorting->name[source] : 0;
        at[0] = (uint32_t)((name << table->format.used_bits) | (synapse[0] & used));
        if (words > 1) at[1] = synapse[1];
    }
    memcpy(buckets->synapses + words * first, sorting->sorted, words * (end - first) * sizeof(uint32_t));
}

void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources) {
    const struct id_bucket *last = &sources->bucket[sources->buckets - 1];
    const size_t width = (size_t)1 << buckets->source_bits;
    *table = (struct synapse_table){.format = buckets->format, .synapses = buckets->synapses};
    table->index =
        synapse_index(last->first + last->count, buckets_size(buckets), 32 - buckets->format.used_bits);
    table->start = ALLOC(uint32_t, (size_t)table->index.blocks + 1);
    if (table->index.filter_words > 0) table->filter = ALLOC_ZERO(uint64_t, table->index.filter_words);
    struct sorting sorting = {.table = table,
                              .name = table->index.block_bits > 0 ? ALLOC(uint32_t, width) : NULL,
                              .next = ALLOC(uint32_t, width),
                              .sorted = alloc(buckets_largest(buckets), synapse_bytes(&buckets->format))};
    for (uint32_t k = 0; k < buckets->n; k++) {
        next_lists(&sorting, buckets, k, sources);
        begin_lists(&sorting, buckets, k);
        sort_bucket(&sorting, buckets, k);
    }
    table->start[table->index.blocks] = buckets_size(buckets);
    free(sorting.name);
    free(sorting.next);
    free(sorting.sorted);
    buckets->synapses = NULL;
    buckets_close(buckets);
}

void synapse_table_close(struct synapse_table *table) {
    free(table->start);
    free(table->filter);
    free(table->synapses);
}
