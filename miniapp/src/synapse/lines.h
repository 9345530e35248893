/// \file
/// Cache lines that each hold the synapses of some neighbouring lists, for lists of a few synapses.
///
/// A line has 16 words. Its synapses name their list within the line in the bits above place and class,
/// and their names ascend; free words follow. Where the lists of a line have more synapses than fit, its
/// last synapse is a link instead: the place of a word with the number of further words, which come after
/// it. So a spike costs one access to memory, and rarely a second one.
///
/// A line shared by three lists, of 2, 0 and 3 synapses, and one with more than 16 synapses:
///
///     | 0:s 0:s 2:s 2:s 2:s free ... free |
///     | 0:s 0:s 0:s 1:s ... 2:s      link | --> further words: | 4 | 2:s 2:s 3:s 3:s |
///
/// Before the colon stands the name. Which line a list is in follows from its number: its group says at which
/// line it begins and how many lists share a line (line_place()).

#pragma once

#include "synapse/buckets.h"

enum { line_words = 16 }; ///< of a line: 64 bytes
_Static_assert((int)words_beyond >= (int)line_words, "a line can be read from any synapse on");

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
