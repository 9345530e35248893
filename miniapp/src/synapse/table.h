/// \file
/// How a synapse is packed.
///
/// It is one 32-bit word with its weight class above and its place below, where place = delay x neurons +
/// target. Without classes it is two words, its place and its own weight. What is above place and class names
/// the source among a few.

#pragma once

#include "base/error.h"
#include "base/id_set.h"
#include "base/ring.h"
#include "base/spike.h"

/// Says how the synapses of a thread are packed, and what their weight classes weigh.
struct synapse_format {
    uint32_t neurons; ///< of the thread
    unsigned place_bits;
    unsigned used_bits;     ///< of place and class together
    uint32_t classes;       ///< 0: every synapse holds its own weight
    const int32_t *weights; ///< [classes] in units; borrowed
};

static inline size_t synapse_words(const struct synapse_format *format) {
    return format->classes == 0 ? 2 : 1;
}

static inline size_t synapse_bytes(const struct synapse_format *format) {
    return sizeof(uint32_t) * synapse_words(format);
}

/// Finds the format for a thread of `neurons` neurons with delays up to `longest_delay` steps. Fails if place
/// and class do not fit in 32 bits.
bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error);

static inline uint32_t synapse_pack(const struct synapse_format *format, uint32_t target, uint32_t delay,
                                    uint32_t weight_class) {
    return (uint32_t)((uint64_t)weight_class << format->place_bits) | (delay * format->neurons + target);
}

// -------------------- buckets
// The synapses of one lane on one thread while its table is made.
//
// They are drawn twice: once to count them, and once to put them into buckets of 2^source_bits sources. A
// synapse needs no more room than later, since the bits of its source that the bucket does not tell stand
// above its place and class, where a word has bits to spare. synapse_table_open() then sorts each bucket.

enum { search_words = 16 }; ///< delivery may read so many words from any synapse on

struct buckets {
    struct synapse_format format;
    unsigned source_bits;
    uint32_t n;
    uint32_t *end;      ///< [n] sizes while counting; then where the next synapse of a bucket goes, and so in
                        ///< the end where it ends, which is where the next one begins
    uint32_t *synapses; ///< in the order of buckets, with the low bits of their source on top
};

/// Returns the bits of the source that a bucket does not tell, for synapses of such a format from `sources`
/// different neurons. All threads of a rank must take the same.
unsigned buckets_source_bits(const struct synapse_format *format, uint32_t sources);

/// Opens the buckets for sources below `sources`. First call buckets_count() for every synapse, then
/// buckets_allocate() once, then buckets_put() or buckets_put_own() for every synapse. A thread must not have
/// more than 2^32 - 1 synapses.
void buckets_open(struct buckets *buckets, struct synapse_format format, unsigned source_bits,
                  uint32_t sources);
void buckets_allocate(struct buckets *buckets);
void buckets_close(struct buckets *buckets);

static inline void buckets_count(struct buckets *buckets, uint32_t source) {
    buckets->end[source >> buckets->source_bits]++;
}

/// Returns the word with the low bits of its source on top.
static inline uint32_t buckets_word(const struct buckets *buckets, uint32_t source, uint32_t packed) {
    const uint32_t low = source & (((uint32_t)1 << buckets->source_bits) - 1);
    return (uint32_t)((uint64_t)low << buckets->format.used_bits) | packed;
}

/// Puts a synapse, as packed by synapse_pack(), into its bucket. It must have been counted.
static inline void buckets_put(struct buckets *buckets, uint32_t source, uint32_t packed) {
    buckets->synapses[buckets->end[source >> buckets->source_bits]++] = buckets_word(buckets, source, packed);
}

/// Puts a synapse of a format without classes, with its own weight.
static inline void buckets_put_own(struct buckets *buckets, uint32_t source, uint32_t packed,
                                   int32_t weight) {
    uint32_t *synapse = buckets->synapses + 2 * (size_t)buckets->end[source >> buckets->source_bits]++;
    synapse[0] = buckets_word(buckets, source, packed);
    synapse[1] = (uint32_t)weight;
}

/// Returns the number of the first synapse of a bucket, once all have been put; end[bucket] is one beyond its
/// last.
static inline uint32_t buckets_first(const struct buckets *buckets, uint32_t bucket) {
    return bucket > 0 ? buckets->end[bucket - 1] : 0;
}

/// Returns the low bits of the source of synapse number i, once it has been put.
static inline uint32_t buckets_source(const struct buckets *buckets, size_t i) {
    const uint32_t word = buckets->synapses[i * synapse_words(&buckets->format)];
    return (uint32_t)((uint64_t)word >> buckets->format.used_bits);
}

static inline uint32_t buckets_size(const struct buckets *buckets) {
    return buckets->end[buckets->n - 1];
}

/// Sets bit s - first of `present`, [n / 64, rounded up], for every source s of a synapse among `first` ...
/// first + n - 1. `first` and n must be multiples of 2^source_bits. Call it once all have been put.
void buckets_mark(const struct buckets *buckets, uint64_t first, uint64_t n, uint64_t *present);

// -------------------- lines
// Cache lines that each hold the synapses of some neighbouring lists. A line has 16 words. Its synapses name
// their list within the line in the bits above place and class, and their names ascend; free words follow.
// Where the lists of a line have more synapses than fit, its last synapse is a link instead: the place of a
// word with the number of further words, which come after it.

enum { line_words = search_words };

static const uint32_t line_free = UINT32_MAX;        ///< a word without a synapse
static const uint32_t line_link = (uint32_t)1 << 31; ///< on top of a link; no name has this bit

/// Some neighbouring lists, whose lines hold equally many lists each.
struct line_group {
    uint32_t first;      ///< line
    uint32_t lists;      ///< of a line
    uint64_t reciprocal; ///< 2^32 / lists, rounded up
};

/// A list: the number of its line, and its name there.
struct line_place {
    uint32_t line, name;
};

/// Finds list number `within` of a group. `within` must be below 2^16.
static inline struct line_place line_place(const struct line_group *group, uint32_t within) {
    const uint32_t line = (uint32_t)(within * group->reciprocal >> 32);
    return (struct line_place){group->first + line, within - line * group->lists};
}

// -------------------- name_search

/// A part of the synapses: words first ... end - 1.
struct span_of_words {
    const uint32_t *first, *end;
};

/// Returns the first of the words first ... end - 1 whose name is not below `name`.
ALWAYS_INLINE const uint32_t *find_name(const uint32_t *first, const uint32_t *end, uint32_t name,
                                        unsigned used_bits, const size_t words_of_one) {
    for (size_t n = (size_t)(end - first) / words_of_one; n > 0;) {
        const uint32_t *middle = first + n / 2 * words_of_one;
        const bool below = *middle >> used_bits < name;
        first = below ? middle + words_of_one : first;
        n = below ? n - n / 2 - 1 : n / 2;
    }
    return first;
}

/// Finds the synapses called `name` among many whose names ascend, by bisection. Most often the list has all
/// of them.
ALWAYS_INLINE struct span_of_words find_list(struct span_of_words all, uint32_t name, unsigned used_bits,
                                             const size_t words_of_one) {
    const uint32_t *first = *all.first >> used_bits == name
                                ? all.first
                                : find_name(all.first, all.end, name, used_bits, words_of_one);
    const uint32_t *end = *(all.end - words_of_one) >> used_bits == name
                              ? all.end
                              : find_name(first, all.end, name + 1, used_bits, words_of_one);
    return (struct span_of_words){first, end};
}

/// Writes the lines of a table, list after list. It holds the lists whose group is not complete.
struct lines_writer {
    struct synapse_table *table;
    uint32_t *starts; ///< [n + 1] list l of these has synapses starts[l] up to starts[l + 1] of the table
    uint32_t *words;  ///< the synapses of these lists, without names
    uint32_t *named;  ///< the synapses of a line of very many, with names
    uint32_t n, n_words;
    uint32_t room, room_words;
    uint32_t groups; ///< written
};

// -------------------- table
// The synapses of one lane on one thread, sorted by the list they belong to, and their delivery.
//
// All synapses of a source make up one list, and a spike names its list. Lists are numbered for a whole
// rank, so that most of them may be empty on one of many threads. Where lists hold five synapses or more on
// the mean, a table has a start for every list. Below, it has a cache line for every few neighbouring lists,
// as many as fill it on the mean, and the synapses of a line name their list. How many
// lists share a line is the same for the 2^group_bits lists of a group. Where lists hold less than a synapse
// on the mean, a filter of one bit for each list (or for some neighbouring ones) says which spikes need not
// be looked up. Lines and filter take at most 1.5 bytes per synapse on top of it where a word has bits to
// spare.
//
// The input of a synapse belongs at (place + row of the spike's step) modulo the size of the ring: one
// addition and one comparison. Without classes the input is never narrow.

/// The index with which a table finds its lists. It depends only on the numbers of lists and synapses.
struct synapse_index {
    uint32_t lists;
    uint32_t most_lists; ///< of a line; 0: no lines, but a start for every list
    uint32_t fill;       ///< words of a line, on the mean, if they all could be had there
    unsigned group_bits; ///< a group has 2^group_bits lists, the last one fewer
    uint32_t groups;
    unsigned filter_bits;  ///< a bit of the filter stands for 2^filter_bits lists
    uint64_t filter_words; ///< of 64 bits; 0: no filter
};

/// Chooses the index of so many lists and synapses.
struct synapse_index synapse_index(const struct synapse_format *format, uint32_t lists, uint64_t synapses);

/// Returns the bytes that such an index takes on top of its synapses. With lines this is an expectation,
/// which takes all lists to be equally long on the mean. Differing ones take up to 8 % more or less, synapses
/// included.
double synapse_index_bytes(const struct synapse_index *index, const struct synapse_format *format,
                           uint64_t synapses);

/// Returns how many neighbouring lists share a line in a group of `lists` lists and `words` words.
uint32_t synapse_index_share(const struct synapse_index *index, uint32_t lists, double words);

struct synapse_table {
    struct synapse_format format;
    struct synapse_index index;
    uint32_t size;            ///< synapses
    uint32_t *synapses;       ///< lines; or packed, sorted by list; without classes each with its weight
    uint32_t *start;          ///< [lists + 1] list l is synapses[start[l]] up to synapses[start[l + 1]]
    struct line_group *group; ///< [groups]
    uint32_t *further;        ///< words that did not fit their line
    uint32_t lines, further_words;
    uint64_t *filter; ///< [filter_words]
};

/// Makes a table of the synapses in `buckets`, which it takes over. `sources` holds all sources of the rank
/// in this lane in buckets of equal width, and numbers them: these are the lists. Close the table also where
/// it was never opened but set to zero.
void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources);
void synapse_table_close(struct synapse_table *table);

uint64_t synapse_table_bytes(const struct synapse_table *table); ///< synapses included

struct delivered {
    uint64_t synaptic_events; ///< synapses visited
    uint64_t first_accesses;  ///< lists entered that hold a synapse
    uint64_t lookups;         ///< spikes examined
};

/// Adds to the ring what the `n` spikes in `words`, packed as `spikes` says (base/spike.h), cause. The lists
/// that they name must exist. `window` is the first step of their window. The next row of the ring to be read
/// must belong to a later step than any of the spikes. Without classes the ring must not be narrow. The table
/// is only read, so threads that have a ring each need no lock. A table without synapses examines no spikes.
struct delivered synapse_table_deliver(const struct synapse_table *table, const uint32_t *words, size_t n,
                                       struct spike_format spikes, uint32_t window, struct ring *ring);

// -------------------- filter

/// Fetches the word of the filter for a spike into the second cache. What is on its way to the first cache
/// holds one of its few places for misses.
ALWAYS_INLINE void filter_fetch(const struct synapse_table *table, struct spike_format spikes,
                                uint32_t word) {
    __builtin_prefetch(&table->filter[(spike_list(spikes, word) >> table->index.filter_bits) / 64], 0, 2);
}

/// Copies the spikes that the filter of a table lets through to `passed`, which has room for all `n`.
/// \return how many they are.
static inline size_t filter_pass(const struct synapse_table *table, struct spike_format spikes,
                                 const uint32_t *words, size_t n, uint32_t *passed) {
    enum { ahead = 32 };                     // spikes
    const struct synapse_table own = *table; // stores could change what pointers lead to
    size_t m = 0;
    for (size_t i = 0; i < n && i < ahead; i++) filter_fetch(&own, spikes, words[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + ahead < n) filter_fetch(&own, spikes, words[i + ahead]);
        const uint32_t bit = spike_list(spikes, words[i]) >> own.index.filter_bits;
        passed[m] = words[i];
        m += own.filter[bit / 64] >> bit % 64 & 1;
    }
    return m;
}

// -------------------- line_find

#ifdef __AVX2__
#include <immintrin.h>
#endif

/// Some of 16 words: from `first` on, `count` of them.
struct line_span {
    uint32_t first, count;
};

/// Finds the synapses called `name` among 16 words, of which the first `length` are synapses. There is no
/// branch that could be foreseen wrongly.
ALWAYS_INLINE struct line_span line_find(const uint32_t *words, uint32_t name, unsigned used_bits,
                                         uint32_t length, const size_t words_of_one) {
    const uint32_t valid = (words_of_one == 2 ? 0x5555u : 0xffffu) & (((uint32_t)1 << length) - 1);
#ifdef __AVX2__
    const __m128i shift = _mm_cvtsi32_si128((int)used_bits);
    const __m256i wanted = _mm256_set1_epi32((int)name);
    uint32_t named = 0;
    for (int half = 0; half < 2; half++) {
        const __m256i eight = _mm256_loadu_si256((const __m256i *)(words + 8 * half));
        const __m256i same = _mm256_cmpeq_epi32(_mm256_srl_epi32(eight, shift), wanted);
        named |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << 8 * half;
    }
#else
    uint32_t named = 0;
    for (unsigned k = 0; k < line_words; k++) named |= (uint32_t)(words[k] >> used_bits == name) << k;
#endif
    named &= valid;
    return (struct line_span){(uint32_t)__builtin_ctz(named | 1u << (line_words - 1)),
                              (uint32_t)__builtin_popcount(named) * (uint32_t)words_of_one};
}

/// What turns synapses into cells of the ring: place + row, modulo the size of the ring.
struct line_shift {
    uint32_t places, classes; ///< masks
    uint32_t row, size;
};

/// Writes to `out` 8 of the 16 words, from `first` on, modulo 16: the class, and the cell instead of the
/// place. Of synapses of two words the second stays as it is. It reads no other words, because these could
/// be in another line.
ALWAYS_INLINE void line_put_eight(uint32_t *out, const uint32_t *words, uint32_t first,
                                  struct line_shift shift, const size_t words_of_one) {
#ifdef __AVX2__
    const __m256i odd = _mm256_set1_epi64x(words_of_one == 2 ? -(INT64_C(1) << 32) : 0);
    const __m256i places = _mm256_or_si256(_mm256_set1_epi32((int)shift.places), odd);
    const __m256i row = _mm256_andnot_si256(odd, _mm256_set1_epi32((int)shift.row));
    const __m256i size = _mm256_andnot_si256(odd, _mm256_set1_epi32((int)shift.size));
    const __m256i index =
        _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256i low = _mm256_loadu_si256((const __m256i *)words);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(words + 8));
    const __m256i of_high = _mm256_slli_epi32(index, 28); // the top bit says whether the word is in `high`
    const __m256i eight = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)), _mm256_castsi256_ps(of_high)));
    const __m256i ahead = _mm256_add_epi32(_mm256_and_si256(eight, places), row);
    __m256i cells = _mm256_min_epu32(ahead, _mm256_sub_epi32(ahead, size));
    if (shift.classes != 0)
        cells = _mm256_or_si256(cells, _mm256_and_si256(eight, _mm256_set1_epi32((int)shift.classes)));
    _mm256_storeu_si256((__m256i *)out, cells);
#else
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t word = words[(first + k) % line_words];
        const uint32_t ahead = (word & shift.places) + shift.row, wrapped = ahead - shift.size;
        const uint32_t cell = (wrapped < ahead ? wrapped : ahead) | (word & shift.classes);
        out[k] = words_of_one == 2 && k % 2 ? word : cell;
    }
#endif
}

/// Writes up to 16 words to `out`, as line_put_eight() does.
ALWAYS_INLINE void line_put(uint32_t *out, const uint32_t *words, struct line_span span,
                            struct line_shift shift, const size_t words_of_one) {
    line_put_eight(out, words, span.first, shift, words_of_one);
    if (span.count > 8) line_put_eight(out + 8, words, span.first + 8, shift, words_of_one);
}
