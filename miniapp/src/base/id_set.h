/// \file
/// A set of ids in ascending order, in two bytes each: the ids of a bucket share all but their low bits.
///
/// The n-th id of the set has the number n. Buckets are 2^bits ids wide and stand in the order of their ids.
///
/// Example with bits = 4: the ids 3, 17 and 18 are in buckets 0 (low bits 3) and 1 (low bits 1, 2), and have
/// the numbers 0, 1 and 2. Memory: 2 bytes for each id, 16 for each bucket.

#pragma once

#include <stdint.h>

enum { id_set_bits_max = 16 }; ///< bits of an id that are kept for each: two bytes

/// The ids of the set that share their high bits.
struct id_bucket {
    uint16_t *low;  ///< [count] the low bits of its ids, ascending
    uint32_t count; ///< at most 2^bits
    uint32_t first; ///< number of its first id; set by id_set_number()
};

/// A set, in buckets of 2^bits ids.
struct id_set {
    unsigned bits;    ///< of an id that tell those of a bucket from each other, at most id_set_bits_max
    uint32_t buckets; ///< how many there are, empty ones included
    struct id_bucket *bucket; ///< [buckets] owned
};

/// Returns the bits, at least `fewest`, of a set of ids below `ids` that so many threads can fill side by
/// side.
unsigned id_set_bits(uint32_t ids, unsigned fewest, int threads);

/// Opens an empty set of ids below `ids`, in buckets of 2^bits.
void id_set_open(struct id_set *set, uint32_t ids, unsigned bits);
/// Frees all ids. A set that was set to zero may be closed, too.
void id_set_close(struct id_set *set);

/// Fills bucket `bucket`, once, with the ids whose low bits are set in `present`, 2^bits bits.
void id_set_fill(struct id_set *set, uint32_t bucket, const uint64_t *present);

/// Numbers the ids once all buckets are filled. \return how many there are. Beyond 2^32 - 1 the numbers are
/// meaningless.
uint64_t id_set_number(struct id_set *set);

/// A place in a set: the next id is number `place` of bucket `bucket`.
struct id_cursor {
    const struct id_set *set; ///< borrowed
    uint32_t bucket;          ///< number of the bucket
    uint32_t place;           ///< in it; may be its count, one beyond its last id
};

/// Returns the cursor that stands on the id of that number, which may be the number of ids.
struct id_cursor id_set_from(const struct id_set *set, uint64_t number);

/// Returns the id at the cursor and moves on. There must be one.
static inline uint32_t id_set_next(struct id_cursor *cursor) {
    while (cursor->place == cursor->set->bucket[cursor->bucket].count) {
        cursor->bucket++;
        cursor->place = 0;
    }
    return (cursor->bucket << cursor->set->bits) | cursor->set->bucket[cursor->bucket].low[cursor->place++];
}
