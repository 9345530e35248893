/// \file
/// Fills sets of ids and numbers them.
///
/// A set is filled bucket by bucket from a bit for each id, which a thread keeps for one bucket at a time. So
/// a set of n ids takes 2 n bytes and 16 for each bucket, not a bit for every id that there could be. The
/// number of an id is the number of ids before it: its bucket knows the number of its first.

#include "base/id_set.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Returns how many words of 64 bits hold the bits of a bucket.
static size_t words(const struct id_set *set) {
    return (((size_t)1 << set->bits) + 63) / 64;
}

/// Buckets for each thread at least, where ids allow it. Threads take buckets in turns. Half of all ids may
/// lie side by side, in the area of the rank, so a thread should get many buckets to have its share of them.
/// A bucket takes 16 bytes. Chosen, not tuned.
enum { buckets_per_thread = 64 };

unsigned id_set_bits(uint32_t ids, unsigned fewest, int threads) {
    const uint32_t buckets = buckets_per_thread * (uint32_t)threads;
    // Wider buckets as long as there are 64 for each thread.
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
    // First count, then take just enough memory.
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
    // Find the last bucket whose first id has no higher number, by bisection.
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
