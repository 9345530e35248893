#include "synapse/table.h"

#include <math.h>

// -------------------- buckets

unsigned buckets_source_bits(const struct synapse_format *format, uint32_t sources) {
    // Bits of the number of buckets. With 128 buckets, sorting one takes little memory. Where a bucket then
    // has more than 4096 sources, whose lists no longer fit the first two caches while it is sorted, up to
    // 4096 buckets, each of which needs a line of the cache while they are filled.
    enum { fewest = 7, wide = 12, most = 12 };
    unsigned bits = 0;
    while (bits < id_set_bits_max && bits < 32 - format->used_bits &&
           sources >> (bits + (bits < wide ? fewest : most)))
        bits++;
    return bits;
}

void buckets_open(struct buckets *buckets, struct synapse_format format, unsigned source_bits,
                  uint32_t sources) {
    *buckets =
        (struct buckets){.format = format, .source_bits = source_bits, .n = (sources >> source_bits) + 1};
    buckets->end = ALLOC_ZERO(uint32_t, buckets->n);
}

void buckets_allocate(struct buckets *buckets) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t size = buckets->end[k];
        buckets->end[k] = sum;
        sum += size;
    }
    buckets->synapses = ALLOC(uint32_t, (size_t)sum * synapse_words(&buckets->format) + search_words);
}

void buckets_close(struct buckets *buckets) {
    FREE(buckets->end, buckets->synapses);
    *buckets = (struct buckets){0};
}

void buckets_mark(const struct buckets *buckets, uint64_t first, uint64_t n, uint64_t *present) {
    const unsigned bits = buckets->source_bits;
    for (uint64_t k = first >> bits; k < (first + n) >> bits && k < buckets->n; k++) {
        const uint64_t offset = (k << bits) - first;
        for (uint32_t i = buckets_first(buckets, (uint32_t)k); i < buckets->end[k]; i++) {
            const uint64_t source = offset + buckets_source(buckets, i);
            const uint64_t bit = (uint64_t)1 << source % 64;
            // Most sources are there already. A store would hold up the loads that follow it.
            if (!(present[source / 64] & bit)) present[source / 64] |= bit;
        }
    }
}

/// Returns the largest number of synapses in a bucket, once all have been put.
static uint32_t buckets_largest(const struct buckets *buckets) {
    uint32_t largest = 0;
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t size = buckets->end[k] - buckets_first(buckets, k);
        largest = size > largest ? size : largest;
    }
    return largest;
}

// -------------------- lines

enum {
    step = 8,                   // words that are named at a time, and so may be read beyond the last
    most_words = 4 * line_words // of a line and what does not fit it, which are written where lines follow
};

/// Begins the lines of a table whose format, index and size are there. Further words go to `further`, which
/// must not be needed for anything else up to the last synapse that was handed over.
static void lines_open(struct lines_writer *writer, struct synapse_table *table, uint32_t *further) {
    const struct synapse_index *index = &table->index;
    const double words = (double)table->size * (double)synapse_words(&table->format);
    // A group of w words has at most 1.5 w / fill lines and one, or as many as its names ask for.
    const double lines =
        1.5 * words / index->fill + 1.0 * index->lists / index->most_lists + 2.0 * index->groups;
    *writer = (struct lines_writer){.table = table};
    table->synapses = ALLOC(uint32_t, line_words * (size_t)(lines + 1) + most_words + step);
    table->group = ALLOC(struct line_group, index->groups);
    table->further = further;
}

/// Makes room for some more lists, to be put at starts[n], one more than lists, and words[n_words].
static void lines_reserve(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    if (writer->n + lists + 1 > writer->room) {
        writer->room = writer->n + lists + 1;
        writer->starts = alloc_more(writer->starts, writer->room, sizeof *writer->starts);
    }
    if (writer->n_words + words + step > writer->room_words) {
        writer->room_words = writer->n_words + words + step;
        writer->words = alloc_more(writer->words, writer->room_words, sizeof *writer->words);
    }
}

/// Writes `step` words with a name on top.
ALWAYS_INLINE void name_some(uint32_t *restrict named, const uint32_t *restrict words, uint32_t name,
                             const size_t words_of_one) {
    for (size_t k = 0; k < step; k++) named[k] = words[k] | (k % words_of_one ? 0 : name);
}

/// Writes the words of some lists to `named`, with the name of their list: always `step` words of a list, of
/// which later lists overwrite those that are not its own. So no branch depends on lists of up to `step`
/// words, whose lengths cannot be foreseen.
ALWAYS_INLINE void name_words(uint32_t *restrict named, const uint32_t *starts, uint32_t lists,
                              const uint32_t *restrict words, unsigned used_bits, const size_t words_of_one) {
    const uint32_t first = starts[0];
    size_t at = 0;
    for (uint32_t l = 0; l < lists; l++) {
        const size_t end = (starts[l + 1] - first) * words_of_one;
        name_some(named + at, words + at, l << used_bits, words_of_one);
        for (at += step; __builtin_expect(at < end, 0); at += step)
            name_some(named + at, words + at, l << used_bits, words_of_one);
        at = end;
    }
}

/// Writes one line of `lists` lists, which begin and end at starts[0 ... lists]. \return their words.
static uint32_t write_line(struct lines_writer *writer, const uint32_t *starts, uint32_t lists,
                           const uint32_t *words) {
    struct synapse_table *table = writer->table;
    const size_t each = synapse_words(&table->format), n = each * (starts[lists] - starts[0]);
    uint32_t *line = table->synapses + (size_t)line_words * table->lines++, *named = line;
    if (n > most_words) { // what is beyond the line does not fit behind it
        writer->named = alloc_more(writer->named, n + step, sizeof *named);
        named = writer->named;
    }
    if (each == 1)
        name_words(named, starts, lists, words, table->format.used_bits, 1);
    else
        name_words(named, starts, lists, words, table->format.used_bits, 2);
    if (n <= line_words) {
        for (size_t k = n; k < line_words; k++) line[k] = line_free;
        return (uint32_t)n;
    }
    const size_t here = line_words - each;
    uint32_t *further = table->further + table->further_words;
    *further = (uint32_t)(n - here);
    memcpy(further + 1, named + here, (n - here) * sizeof *further);
    if (named != line) memcpy(line, named, here * sizeof *line);
    line[here] = line_link | table->further_words;
    if (each > 1) line[here + 1] = line_free;
    table->further_words += (uint32_t)(1 + n - here);
    return (uint32_t)n;
}

/// Writes the group of the first `lists` lists. \return their words.
static uint32_t write_group(struct lines_writer *writer, const uint32_t *starts, uint32_t lists,
                            const uint32_t *words) {
    struct synapse_table *table = writer->table;
    const uint32_t n = (uint32_t)synapse_words(&table->format) * (starts[lists] - starts[0]);
    const uint32_t share = synapse_index_share(&table->index, lists, n);
    table->group[writer->groups++] =
        (struct line_group){table->lines, share, (((uint64_t)1 << 32) + share - 1) / share};
    for (uint32_t first = 0; first < lists; first += share)
        words += write_line(writer, starts + first, share < lists - first ? share : lists - first, words);
    return n;
}

/// Writes the first groups: all but the last lists that do not fill one, or these, too.
static void write_groups(struct lines_writer *writer, bool all) {
    const uint32_t most = (uint32_t)1 << writer->table->index.group_bits;
    uint32_t first = 0, word = 0;
    while (first < writer->n && (all || writer->n - first >= most)) {
        const uint32_t lists = writer->n - first < most ? writer->n - first : most;
        word += write_group(writer, writer->starts + first, lists, writer->words + word);
        first += lists;
    }
    writer->n -= first;
    writer->n_words -= word;
    memmove(writer->starts, writer->starts + first, (writer->n + (size_t)1) * sizeof *writer->starts);
    if (writer->n_words > 0)
        memmove(writer->words, writer->words + word, writer->n_words * sizeof *writer->words);
}

/// Takes over what was put there, and writes the groups that are complete.
static void lines_add(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    writer->n += lists;
    writer->n_words += words;
    write_groups(writer, false);
}

static void lines_close(struct lines_writer *writer) {
    struct synapse_table *table = writer->table;
    write_groups(writer, true);
    table->synapses = alloc_less(table->synapses, (size_t)line_words * table->lines, sizeof(uint32_t));
    table->further =
        alloc_less(table->further, (size_t)table->further_words + search_words, sizeof(uint32_t));
    FREE(writer->starts, writer->words, writer->named);
}

// -------------------- table

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
        "a synapse; expected 31 bits, 32 in all, so take more ranks or threads, or fewer classes "
        "of weights",
        neurons, longest_delay + 1, place, classes ? classes : 1, weight);
}

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

struct synapse_index synapse_index(const struct synapse_format *format, uint32_t lists, uint64_t synapses) {
    enum { few = 5, filter_bits_per_synapse = 8, group_synapses = 16384, most_group_bits = 14 };
    enum { fewest_spare = 5, full = 15, full_with_filter = 19, most_bits_of_words = 31 }; // the last: bits
    const unsigned spare = format->used_bits < 32 ? 32 - format->used_bits : 0;
    struct synapse_index index = {.lists = lists};
    if (synapses == 0 || synapses >= (uint64_t)few * lists) return index;
    if (synapses < lists) {
        // lists / 2^f, rounded down, is at most 8 synapses from f = log2(lists / (8 synapses + 1)) on.
        index.filter_bits = bits_for(lists / (synapses * filter_bits_per_synapse + 1) + 1);
        index.filter_words = ((lists - 1) >> index.filter_bits) / 64 + 1;
    }
    if (spare < fewest_spare || synapses * synapse_words(format) >> most_bits_of_words > 0) return index;
    index.most_lists = (uint32_t)1 << least(spare - 1, most_group_bits);
    index.fill = synapses < lists ? full_with_filter : full;
    // 2^b lists hold 16384 synapses on the mean from b = log2(16384 lists / synapses) on, rounded up.
    index.group_bits =
        least(bits_for(((uint64_t)group_synapses * lists + synapses - 1) / synapses), most_group_bits);
    index.groups = ((lists - 1) >> index.group_bits) + 1;
    return index;
}

uint32_t synapse_index_share(const struct synapse_index *index, uint32_t lists, double words) {
    enum { many = 32 };
    const double lines = fmax(1, nearbyint(words / index->fill)), share = lists / lines;
    const double whole = share > many ? ceil(share) : nearbyint(share); // no further line for a few lists
    return (uint32_t)fmax(1, fmin(index->most_lists, whole));
}

/// Returns the expectation of the words that do not fit a line where it has a Poisson number of synapses with
/// this mean.
static double expect_further(double mean, uint32_t words) {
    const uint32_t room = line_words / words;
    double here = exp(-mean), most = here, sum = 0; // P(n), P(at most n), mean of n where it is at most that
    for (uint32_t n = 1; n <= room; n++) {
        here *= mean / n;
        most += here;
        sum += n * here;
    }
    return fmax(0, words * (mean - sum - (room - 1) * (1 - most)) + (1 - most));
}

double synapse_index_bytes(const struct synapse_index *index, const struct synapse_format *format,
                           uint64_t synapses) {
    const double filter = (double)index->filter_words * sizeof(uint64_t);
    if (index->most_lists == 0) return filter + ((double)index->lists + 1) * sizeof(uint32_t);
    const uint32_t words = (uint32_t)synapse_words(format);
    const double group = fmin(index->lists, ldexp(1, (int)index->group_bits)), groups = index->lists / group;
    const double all = (double)synapses * words;
    const double share = synapse_index_share(index, (uint32_t)group, all / groups);
    const double lines = groups * ceil(group / share);
    const double further = expect_further(share * (double)synapses / index->lists, words);
    return filter + index->groups * (double)sizeof(struct line_group) +
           sizeof(uint32_t) * (lines * (line_words + further) - all);
}

uint64_t synapse_table_bytes(const struct synapse_table *table) {
    const struct synapse_index *index = &table->index;
    const uint64_t filter = index->filter_words * sizeof(uint64_t);
    if (!table->group)
        return filter + (index->lists + (uint64_t)1) * sizeof(uint32_t) +
               table->size * (uint64_t)synapse_bytes(&table->format);
    return filter + index->groups * sizeof(struct line_group) +
           (line_words * (uint64_t)table->lines + table->further_words) * sizeof(uint32_t);
}

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
    const struct id_bucket *all = &sources->bucket[bucket >> wider];
    const uint32_t within = bucket & (((uint32_t)1 << wider) - 1);
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
    const uint32_t low = ((uint32_t)1 << own.source_bits) - 1;
    const unsigned filter_bits = sorting->table->index.filter_bits;
    uint64_t *filter = sorting->table->filter, present = 0;
    uint32_t *next = sorting->next, at = first, word = sorting->list >> filter_bits >> 6;
    for (uint32_t j = 0; j < sorting->count; j++) next[sorting->low[j] & low] = 0;
    for (uint32_t i = first; i < end; i++) {
        __builtin_prefetch(own.synapses + i * synapse_words(&own.format) + words_ahead);
        next[buckets_source(&own, i)]++;
    }
    for (uint32_t j = 0; j < sorting->count; j++) {
        const uint32_t source = sorting->low[j] & low, bit = (sorting->list + j) >> filter_bits;
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
    lines_open(&writer, sorting->table, buckets->synapses);
    const size_t all = words * sizeof(uint32_t) * sorting->table->size;
    size_t free_from = 0; // words
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t n = (uint32_t)words * (buckets->end[k] - buckets_first(buckets, k));
        next_lists(sorting, buckets, k, sources);
        lines_reserve(&writer, sorting->count, n);
        sorting->starts = writer.starts + writer.n;
        sorting->sorted = writer.words + writer.n_words;
        begin_lists(sorting, buckets, k);
        sort_bucket(sorting, buckets, k);
        lines_add(&writer, sorting->count, n);
        if (free_from < sorting->table->further_words) free_from = sorting->table->further_words;
        free_from +=
            alloc_release(all, buckets->synapses + free_from, buckets->synapses + words * buckets->end[k]) /
            sizeof(uint32_t);
    }
    lines_close(&writer);
}

void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources) {
    const struct id_bucket *last = &sources->bucket[sources->buckets - 1];
    *table = (struct synapse_table){.format = buckets->format, .size = buckets_size(buckets)};
    table->index = synapse_index(&buckets->format, last->first + last->count, table->size);
    if (table->index.filter_words > 0) table->filter = ALLOC_ZERO(uint64_t, table->index.filter_words);
    struct sorting sorting = {.table = table, .next = ALLOC(uint32_t, (size_t)1 << buckets->source_bits)};
    if (table->index.most_lists > 0)
        sort_into_lines(&sorting, buckets, sources);
    else
        sort_with_starts(&sorting, buckets, sources);
    free(sorting.next);
    buckets->synapses = NULL;
    buckets_close(buckets);
}

void synapse_table_close(struct synapse_table *table) {
    FREE(table->start, table->filter, table->group, table->further, table->synapses);
}
