/// \file
/// Makes the table of a lane on a thread from its buckets: sorts one bucket after the other, and gives
/// back their memory on the way.
///
/// For each bucket, next_lists() finds which lists it has: those sources of the whole rank whose ids lie in
/// it, since lists are numbered for the rank and may be empty on this thread. begin_lists() counts the
/// synapses of each list and turns the counts into places. sort_bucket() copies each synapse to its place,
/// without the bits of its source, which the list implies from here on. The result is either kept with a
/// start for every list (sort_with_starts()) or written as lines (sort_into_lines(), lines_writer.c).
///
/// Cost: two passes over the synapses of each bucket, which then fit into the cache. Memory on top of
/// the buckets: one bucket with starts; with lines, the lines that are written while buckets are freed.

#include "base/alloc.h"
#include "synapse/lines_writer.h"
#include "synapse/table.h"
#include <stdlib.h>
#include <string.h>

/// The state that sorts one bucket after the other.
struct sorting {
    struct synapse_table *table;
    const uint16_t *low; ///< [count] low bits of the sources of the bucket's lists
    uint32_t count;      ///< of its lists
    uint32_t list;       ///< number of the first
    uint32_t *next;      ///< [sources of a bucket] place of the next synapse of the list
    uint32_t *starts;    ///< [count + 1] its lists begin there, and end at the next
    uint32_t *sorted;    ///< synapses of a bucket
};

/// Finds the lists of a bucket, which follow those of the one before.
static void next_lists(struct sorting *sorting, const struct buckets *buckets, uint32_t bucket,
                       const struct id_set *sources) {
    const unsigned wider = sources->bits - buckets->source_bits;
    // Buckets of the rank's sources are wider than those of synapses, or as wide.
    const struct id_bucket *all = &sources->bucket[bucket >> wider];
    const uint32_t within = bucket & (((uint32_t)1 << wider) - 1);
    // The lists of this bucket begin where those of the last one ended.
    sorting->list += sorting->count;
    const uint32_t first = sorting->list - all->first;
    uint32_t end = first;
    while (end < all->count && (uint32_t)all->low[end] >> buckets->source_bits == within) end++;
    sorting->low = end > first ? all->low + first : NULL; // a bucket without lists has no place for them
    sorting->count = end - first;
}

/// Notes where the lists of a bucket begin, and where they end, and sets their bits in the filter: a word at
/// a time, since whether a list is empty cannot be foreseen.
static void begin_lists(const struct sorting *sorting, const struct buckets *buckets, uint32_t bucket) {
    enum { words_ahead = 512 };          // as far ahead the hardware does not fetch beyond a page
    const struct buckets own = *buckets; // stores to `next` could change what pointers lead to
    const uint32_t first = buckets_first(&own, bucket), end = own.end[bucket];
    const uint32_t mask = ((uint32_t)1 << own.source_bits) - 1; // of the source's bits below its bucket
    const unsigned filter_bits = sorting->table->index.filter_bits;
    uint64_t *filter = sorting->table->filter, present = 0;
    uint32_t *next = sorting->next, at = first, word = sorting->list >> filter_bits >> 6;
    // First count the synapses of each list.
    // Only the lists of this bucket are counted from 0; the other counters are not read.
    for (uint32_t j = 0; j < sorting->count; j++) next[sorting->low[j] & mask] = 0;
    // The memory of a bucket was written long ago, so it is fetched ahead.
    for (uint32_t i = first; i < end; i++) {
        __builtin_prefetch(own.synapses + i * synapse_words(&own.format) + words_ahead);
        next[buckets_source(&own, i)]++;
    }
    for (uint32_t j = 0; j < sorting->count; j++) {
        const uint32_t source = sorting->low[j] & mask, bit = (sorting->list + j) >> filter_bits;
        const uint32_t count = next[source];
        if (filter && bit / 64 != word) {
            filter[word] |= present;
            word = bit / 64;
            present = 0;
        }
        present |= (uint64_t)(count > 0) << bit % 64;
        sorting->starts[j] = at;
        next[source] = at - first;
        at += count;
    }
    sorting->starts[sorting->count] = at;
    if (present && filter) filter[word] |= present;
}

/// Copies the synapses of a bucket in the order of their lists, without the bits of their sources.
static void sort_bucket(const struct sorting *sorting, const struct buckets *buckets, uint32_t bucket) {
    const struct buckets own = *buckets;
    const size_t words = synapse_words(&own.format);
    const uint32_t first = buckets_first(buckets, bucket), end = buckets->end[bucket];
    const uint32_t used = (uint32_t)(((uint64_t)1 << own.format.used_bits) - 1);
    uint32_t *next = sorting->next, *sorted = sorting->sorted;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t *synapse = own.synapses + words * i;
        uint32_t *at = sorted + words * next[buckets_source(&own, i)]++;
        at[0] = synapse[0] & used;
        if (words > 1) at[1] = synapse[1];
    }
}

/// Sorts all buckets in their place.
static void sort_with_starts(struct sorting *sorting, struct buckets *buckets, const struct id_set *sources) {
    const size_t bytes = synapse_bytes(&buckets->format);
    struct synapse_table *table = sorting->table;
    table->start = ALLOC(uint32_t, (size_t)table->index.lists + 1);
    // The table takes over the memory of the buckets: a bucket is sorted apart and copied back.
    table->synapses = buckets->synapses;
    sorting->sorted = alloc(buckets_largest(buckets), bytes);
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t first = buckets_first(buckets, k);
        next_lists(sorting, buckets, k, sources);
        sorting->starts = table->start + sorting->list;
        begin_lists(sorting, buckets, k);
        sort_bucket(sorting, buckets, k);
        memcpy(buckets->synapses + bytes / sizeof(uint32_t) * first, sorting->sorted,
               bytes * (buckets->end[k] - first));
    }
    free(sorting->sorted);
}

/// Writes lines, and gives the memory of the buckets back one after the other. Further words take their
/// place.
static void sort_into_lines(struct sorting *sorting, struct buckets *buckets, const struct id_set *sources) {
    const size_t words = synapse_words(&buckets->format);
    struct lines_writer writer;
    lines_writer_open(&writer, sorting->table, buckets->synapses);
    const size_t all = words * sizeof(uint32_t) * sorting->table->size;
    size_t free_from = 0; // words
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t n = (uint32_t)words * (buckets->end[k] - buckets_first(buckets, k));
        next_lists(sorting, buckets, k, sources);
        lines_writer_reserve(&writer, sorting->count, n);
        sorting->starts = writer.starts + writer.n;
        sorting->sorted = writer.words + writer.n_words;
        begin_lists(sorting, buckets, k);
        sort_bucket(sorting, buckets, k);
        lines_writer_add(&writer, sorting->count, n);
        // Pages of the bucket that has been written are given back, but for those where further words lie.
        if (free_from < sorting->table->further_words) free_from = sorting->table->further_words;
        free_from +=
            alloc_release(all, buckets->synapses + free_from, buckets->synapses + words * buckets->end[k]) /
            sizeof(uint32_t);
    }
    lines_writer_close(&writer);
}

void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources) {
    const struct id_bucket *last = &sources->bucket[sources->buckets - 1];
    *table = (struct synapse_table){.format = buckets->format, .size = buckets_size(buckets)};
    // The form of the table follows from the numbers of lists and synapses alone.
    table->index = synapse_index(&buckets->format, last->first + last->count, table->size);
    if (table->index.filter_words > 0) table->filter = ALLOC_ZERO(uint64_t, table->index.filter_words);
    // One counter for each source that a bucket may have, used again for every bucket.
    struct sorting sorting = {.table = table, .next = ALLOC(uint32_t, (size_t)1 << buckets->source_bits)};
    if (table->index.most_lists > 0)
        sort_into_lines(&sorting, buckets, sources);
    else
        sort_with_starts(&sorting, buckets, sources);
    free(sorting.next);
    // The table has taken over the memory of the synapses.
    buckets->synapses = NULL;
    buckets_close(buckets);
}
