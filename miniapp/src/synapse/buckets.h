/// \file
/// The synapses of one lane on one thread while its table is made, in buckets of neighbouring sources.
///
/// They are drawn twice: once to count them, and once to put them into buckets of 2^source_bits sources.
/// A synapse needs no more room than later, since the bits of its source that the bucket does not tell
/// stand above its place and class, where a word has bits to spare. synapse_table_open() then sorts each
/// bucket.
///
/// Cost: two passes over the synapses. Memory: 4 or 8 bytes for each synapse, 4 for each bucket.
///
/// Example with 2 bits of the source below its bucket: a synapse from neuron 13 = 0b1101 goes into bucket 3,
/// and its word keeps 1 = 0b01 above class and place. When bucket 3 is sorted, these bits tell its sources 12
/// to 15 from each other.

#pragma once

#include "synapse/synapse.h"

enum {
    words_beyond = 16
}; ///< words behind the last synapse that may be read: delivery reads ahead of its use

/// The synapses of a thread in one lane, grouped by bits of their source that are above source_bits.
struct buckets {
    struct synapse_format format;
    unsigned source_bits; ///< a bucket holds the synapses of 2^source_bits sources
    uint32_t n;           ///< buckets
    uint32_t *end;      ///< [n] sizes while counting; then where the next synapse of a bucket goes, and so in
                        ///< the end where it ends, which is where the next one begins
    uint32_t *synapses; ///< in the order of buckets, with the low bits of their source on top
};

/// Returns the bits of the source that a bucket does not tell, for synapses of such a format from `sources`
/// different neurons, whose ids lie below `ids`, where a thread has about so many synapses. All threads of a
/// rank must take the same. These are the fewest bits, and so the narrowest buckets, with which
///
/// 1. the sources would fill at most about 128 buckets, or 4096 once a bucket has 4096 sources or more, and
/// 2. there are at most 4096 buckets, empty ones included, or a 16th of the synapses where that is more: a
///    thread with few synapses of a large network does not count many empty buckets.
///
/// There are never more bits than a word has to spare, or than id_set_bits_max; then there are more buckets.
unsigned buckets_source_bits(const struct synapse_format *format, uint32_t sources, uint32_t ids,
                             double synapses);

/// Opens the buckets for sources below `sources`. First call buckets_count() for every synapse, then
/// buckets_allocate() once, then buckets_put() or buckets_put_own() for every synapse. A thread must not have
/// more than 2^32 - 1 synapses.
void buckets_open(struct buckets *buckets, struct synapse_format format, unsigned source_bits,
                  uint32_t sources);
void buckets_allocate(struct buckets *buckets);
void buckets_close(struct buckets *buckets);

/// Counts a synapse from `source`, in the first pass.
static inline void buckets_count(struct buckets *buckets, uint32_t source) {
    buckets->end[source >> buckets->source_bits]++;
}

/// Returns the word with the low bits of its source on top.
static inline uint32_t buckets_word(const struct buckets *buckets, uint32_t source, uint32_t packed) {
    const uint32_t low_bits = source & (((uint32_t)1 << buckets->source_bits) - 1);
    return (uint32_t)((uint64_t)low_bits << buckets->format.used_bits) | packed;
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

/// Returns the number of synapses in all buckets, once all have been put.
static inline uint32_t buckets_size(const struct buckets *buckets) {
    return buckets->end[buckets->n - 1];
}

/// Sets bit s - first of `present`, [n / 64, rounded up], for every source s of a synapse among `first` ...
/// first + n - 1. `first` and n must be multiples of 2^source_bits. Call it once all have been put.
void buckets_mark(const struct buckets *buckets, uint64_t first, uint64_t n, uint64_t *present);

/// Returns how many synapses the largest bucket has.
uint32_t buckets_largest(const struct buckets *buckets);
