/// \file
/// The lists of one rank in one lane, and which ranks own their sources.

#ifndef TRANSPORT_WANTED_H
#define TRANSPORT_WANTED_H

#include "base/id_set.h"
#include "description/placement.h"

struct wanted {
    struct id_set sources; ///< of the lists; a list has the number of its source in the set
    uint64_t lists;
    uint32_t *per_owner; ///< [ranks of the lane] how many of them each rank owns
    const struct placement *placement;
    const int *place; ///< [ranks of the world] number of a rank in the lane; borrowed, as the placement
};

/// Opens it with an empty set of ids in buckets of 2^bits. Fill the set, then call wanted_number().
void wanted_open(struct wanted *wanted, const struct placement *placement, const int *place, int ranks,
                 unsigned bits);
void wanted_close(struct wanted *wanted);

/// Numbers the lists and counts those of each owner.
void wanted_number(struct wanted *wanted);

/// Goes through the lists in the order of their numbers.
struct wanted_cursor {
    const struct wanted *wanted;
    struct id_cursor ids;
    const struct deal *deal; ///< of the last source
};

static inline struct wanted_cursor wanted_from(const struct wanted *wanted, uint64_t list) {
    return (struct wanted_cursor){wanted, id_set_from(&wanted->sources, list), wanted->placement->deals};
}

/// Moves to the next list. \return the id of its source; `owner` becomes the number in the lane of its rank.
static inline uint32_t wanted_next(struct wanted_cursor *cursor, int *owner) {
    const uint32_t gid = id_set_next(&cursor->ids);
    while (gid >= cursor->deal->end) cursor->deal++;
    *owner = cursor->wanted->place[deal_rank(cursor->deal, gid)];
    return gid;
}

#endif
