/// \file
/// Cache lines that each hold the synapses of some neighbouring lists (synapse/table.h).
///
/// A line has 16 words. Its synapses name their list within the line in the bits above place and class, and
/// their names ascend; free words follow. Where the lists of a line have more synapses than fit, its last
/// synapse is a link instead: the place of a word with the number of further words, which come after it.

#ifndef SYNAPSE_LINE_H
#define SYNAPSE_LINE_H

#include "synapse/buckets.h"

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

#endif
