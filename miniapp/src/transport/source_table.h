/// \file
/// The lists of one rank in one lane, and which ranks own their sources.
///
/// A list is made of all synapses of one source on this rank, on any of its threads. The lists of a lane are
/// numbered by the ids of their sources, ascending, and this number is what the word of a spike names. So the
/// table is a set of ids (base/id_set.h), two bytes for each list, not for each synapse.
///
/// It is needed only while the network is built: run/lists.c fills it, synapse/sort.c numbers the lists of
/// the synapse tables by it, and transport/routes.c tells the owners of the sources. After that it is
/// closed; only a dry run keeps it, to make up what the owners would send.

#pragma once

#include "base/id_set.h"
#include "description/placement.h"

/// The sources of a rank in a lane.
struct source_table {
    struct id_set sources;             ///< of the lists; a list has the number of its source in the set
    uint64_t lists;                    ///< how many there are, once they are numbered
    uint32_t *per_owner;               ///< [ranks of the lane] how many of them each rank owns; owned
    const struct placement *placement; ///< borrowed
    const int *place; ///< [ranks of the world] number of a rank in the lane; borrowed, as the placement
};

/// Opens it with an empty set of ids in buckets of 2^bits. Fill the set, then call source_table_number().
void source_table_open(struct source_table *table, const struct placement *placement, const int *place,
                       int ranks, unsigned bits);
/// Frees it. One that was set to zero may be closed, too.
void source_table_close(struct source_table *table);

/// Numbers the sources, ascending by id, and counts how many of them each rank owns.
void source_table_number(struct source_table *table);

/// Goes through the lists in the order of their numbers.
struct source_cursor {
    const struct source_table *table; ///< borrowed
    struct id_cursor ids;             ///< stands on the next source
    const struct range *range;        ///< of the last source
};

/// Returns the cursor that stands on list number `list`, which may be the number of lists.
static inline struct source_cursor source_cursor_at(const struct source_table *table, uint64_t list) {
    return (struct source_cursor){table, id_set_from(&table->sources, list), table->placement->ranges};
}

/// Moves to the next list. \return the id of its source; `owner` becomes the number in the lane of its rank.
static inline uint32_t source_cursor_next(struct source_cursor *cursor, int *owner) {
    const uint32_t gid = id_set_next(&cursor->ids);
    while (gid >= cursor->range->end) cursor->range++;
    *owner = cursor->table->place[range_rank(cursor->range, gid)];
    return gid;
}
