/// \file
/// The groups of ranks that a lane connects.

#ifndef SCHEDULE_GROUPING_H
#define SCHEDULE_GROUPING_H

#include "description/placement.h"
#include "schedule/lane_areas.h"

/// Consecutive ranks, from the lowest to the highest that hold an area. Others may lie between them.
struct span {
    int first, last;
};

/// Finds between which ranks each area lies. \return [areas], owned by the caller. An area without neurons
/// has rank 0.
struct span *grouping_area_spans(const struct placement *placement);

struct grouping {
    int ranks;
    int *first; ///< [ranks] first rank of each rank's group, which names the group
    int *place; ///< [ranks] the rank's number within it
    int *size;  ///< [ranks] ranks in it
    int largest, groups;
};

/// Makes blocks of `block` ranks, a divisor of `ranks`.
void grouping_blocks(struct grouping *grouping, int ranks, int block);

/// Makes groups of ranks that share an area, consecutive or not. Ranks that several areas link are one group.
void grouping_areas(struct grouping *grouping, const struct placement *placement);

/// Makes one group of the ranks of all areas that `members` holds, consecutive or not. Every other rank is
/// alone.
void grouping_members(struct grouping *grouping, const struct placement *placement,
                      const struct lane_areas *members);

void grouping_close(struct grouping *grouping);

/// Says whether the ranks of both spans lie in one of the groups, all of which hold consecutive ranks.
static inline bool grouping_joins(const struct grouping *grouping, struct span a, struct span b) {
    const int *first = grouping->first, group = first[a.first];
    return first[a.last] == group && first[b.first] == group && first[b.last] == group;
}

/// Returns the divisor of `ranks` that is closest to their square root; of two that are equally close, the
/// smaller one.
int grouping_square(int ranks);

#endif
