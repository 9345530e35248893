/// \file
/// A set of ids in ascending order, in two bytes each: the ids of a bucket share all but their low bits.
///
/// The n-th id of the set has the number n. Buckets are 2^bits ids wide and stand in the order of their ids.

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { id_set_bits_max = 16 };

struct id_bucket {
    uint16_t *low;  ///< [count] the low bits of its ids, ascending
    uint32_t count; ///< at most 2^bits
    uint32_t first; ///< number of its first id; set by id_set_number()
};

struct id_set {
    unsigned bits; ///< of an id that tell those of a bucket from each other, at most id_set_bits_max
    uint32_t buckets;
    struct id_bucket *bucket;
};

/// Returns the bits, at least `fewest`, of a set of ids below `ids` that so many threads can fill side by
/// side.
unsigned id_set_bits(uint32_t ids, unsigned fewest, int threads);

void id_set_open(struct id_set *set, uint32_t ids, unsigned bits);
void id_set_close(struct id_set *set);

/// Fills bucket `bucket`, once, with the ids whose low bits are set in `present`, 2^bits bits.
void id_set_fill(struct id_set *set, uint32_t bucket, const uint64_t *present);

/// Numbers the ids once all buckets are filled. \return how many there are. Beyond 2^32 - 1 the numbers are
/// meaningless.
uint64_t id_set_number(struct id_set *set);

struct id_cursor {
    const struct id_set *set;
    uint32_t bucket, place;
};

/// Returns the cursor that stands on the id of that number, which may be the number of ids.
struct id_cursor id_set_from(const struct id_set *set, uint64_t number);

static inline uint32_t id_set_next(struct id_cursor *cursor) {
    while (cursor->place == cursor->set->bucket[cursor->bucket].count) {
        cursor->bucket++;
        cursor->place = 0;
    }
    return (cursor->bucket << cursor->set->bits) | cursor->set->bucket[cursor->bucket].low[cursor->place++];
}
