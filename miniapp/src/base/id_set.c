#include "base/id_set.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Returns how many words of 64 bits hold the bits of a bucket.
static size_t words(const struct id_set *set) {
    return (((size_t)1 << set->bits) + 63) / 64;
}

unsigned id_set_bits(uint32_t ids, unsigned fewest, int threads) {
    const uint32_t buckets = 64 * (uint32_t)threads; // many, since half of all ids may lie side by side
    unsigned bits = fewest;
    while (bits < id_set_bits_max && ids >> (bits + 1) >= buckets) bits++;
    return bits;
}

void id_set_open(struct id_set *set, uint32_t ids, unsigned bits) {
    *set = (struct id_set){.bits = bits, .buckets = (ids >> bits) + 1};
    set->bucket = ALLOC_ZERO(struct id_bucket, set->buckets);
}

void id_set_close(struct id_set *set) {
    for (uint32_t k = 0; k < set->buckets; k++) free(set->bucket[k].low);
    free(set->bucket);
    *set = (struct id_set){0};
}

void id_set_fill(struct id_set *set, uint32_t bucket, const uint64_t *present) {
    const size_t n_words = words(set);
    uint32_t count = 0, n = 0;
    for (size_t w = 0; w < n_words; w++) count += (uint32_t)__builtin_popcountll(present[w]);
    if (count == 0) return;
    uint16_t *low = ALLOC(uint16_t, count);
    for (size_t w = 0; w < n_words; w++)
        for (uint64_t rest = present[w]; rest; rest &= rest - 1)
            low[n++] = (uint16_t)(64 * w + (size_t)__builtin_ctzll(rest));
    set->bucket[bucket].count = count; // written once: other threads fill the buckets beside it
    set->bucket[bucket].low = low;
}

uint64_t id_set_number(struct id_set *set) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < set->buckets; k++) {
        set->bucket[k].first = (uint32_t)n;
        n += set->bucket[k].count;
    }
    return n;
}

struct id_cursor id_set_from(const struct id_set *set, uint64_t number) {
    uint32_t low = 0, high = set->buckets;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (set->bucket[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    return (struct id_cursor){set, low, (uint32_t)(number - set->bucket[low].first)};
}
