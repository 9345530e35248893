/// \file
/// Counts, places and reads the buckets of synapses (see buckets.h).
///
/// The order of use is that of a counting sort: buckets_count() makes `end` a histogram; buckets_allocate()
/// turns it into places, the sum of what lies before; each buckets_put() moves a place by one, so that in the
/// end it is where the bucket ends. A bucket is as wide as the spare bits of a word allow, and there are few
/// enough of them that the place where each is written stays in the cache. sort.c sorts within the buckets.

#include "synapse/buckets.h"

#include "base/alloc.h"
#include "base/id_set.h"
#include <math.h>

/// Bits of the number of buckets: 2^7 while they are narrow. Sorting a bucket needs memory for one on top of
/// all of them, less than 1 % with 128; with 64 it would be twice that.
enum { fewest = 7 };

/// Bits of the sources of a bucket from which there may be more buckets. While a bucket is sorted, each
/// source has a place for its next synapse and a line of the cache that is written: 2^12 sources x 68 bytes
/// fill the second cache.
enum { wide = 12 };

/// Bits of the number of buckets at most. While buckets are filled, each needs a line of the cache that is
/// written: 2^12 lines are 256 KiB, also a second cache. Twice as many would not fit, half as many would be
/// sorted from the third. `wide` and `most` follow from the sizes of caches, and were not tuned.
enum { most = 12 };

/// Synapses for each bucket at least, on the mean, where there are more than 2^most: then the ends of buckets
/// take at most a 16th of the memory of the synapses.
enum { bucket_synapses = 16 };

unsigned buckets_source_bits(const struct synapse_format *format, uint32_t sources, uint32_t ids,
                             double synapses) {
    const double limit = fmax(1 << most, synapses / bucket_synapses); // buckets
    // A wider bucket as long as a word can hold the bits, and as long as there are buckets enough. Those that
    // stay empty, since no source lies there, count for the limit, too.
    unsigned bits = 0;
    while (bits < id_set_bits_max && bits < 32 - format->used_bits &&
           (sources >> (bits + (bits < wide ? fewest : most)) || ids >> bits > limit))
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
    // Sizes become first places. The sum fits 32 bits: run/lists.c has refused threads with more synapses.
    uint32_t sum = 0;
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t size = buckets->end[k];
        buckets->end[k] = sum;
        sum += size;
    }
    // Delivery may read some words beyond the last synapse.
    buckets->synapses = ALLOC(uint32_t, (size_t)sum * synapse_words(&buckets->format) + words_beyond);
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

// end[] must be as it is once all have been put: before, the ends are not there yet.
uint32_t buckets_largest(const struct buckets *buckets) {
    uint32_t largest = 0;
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t size = buckets->end[k] - buckets_first(buckets, k);
        largest = size > largest ? size : largest;
    }
    return largest;
}
