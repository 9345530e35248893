#include "synapse/buckets.h"

#include "base/alloc.h"
#include "base/id_set.h"
#include <stdlib.h>

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
    free(buckets->end);
    free(buckets->synapses);
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

uint32_t buckets_largest(const struct buckets *buckets) {
    uint32_t largest = 0;
    for (uint32_t k = 0; k < buckets->n; k++) {
        const uint32_t size = buckets->end[k] - buckets_first(buckets, k);
        largest = size > largest ? size : largest;
    }
    return largest;
}
