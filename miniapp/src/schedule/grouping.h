/// \file
/// Which ranks exchange with each other in a lane: the ranks of a run, divided into groups.
///
/// A group is named by its lowest rank, and its ranks are numbered from 0 on in their order, as those of the
/// communicator will be that a lane makes of it (run/lane.c). A rank that shares a group with nobody is a
/// group of its own, and needs no communicator.
///
/// Example, of blocks of 2 among 4 ranks:
///
///     rank     0  1  2  3
///     first    0  0  2  2
///     place    0  1  0  1
///     size     2  2  2  2

#pragma once

#include "description/placement.h"

/// Consecutive ranks, from the lowest to the highest that hold an area. Others may lie between them.
struct span {
    int first; ///< rank
    int last;  ///< rank, not one beyond it
};

/// Which ranks exchange with each other in a lane. Memory: 12 bytes for each rank of the run.
struct grouping {
    int ranks;   ///< of the run
    int *first;  ///< [ranks] first rank of each rank's group, which names the group
    int *place;  ///< [ranks] the rank's number within it
    int *size;   ///< [ranks] ranks in it
    int largest; ///< ranks of the largest group
    int groups;  ///< number of groups
};

/// Finds between which ranks each area lies. \return [areas], owned by the caller. An area without neurons
/// has rank 0.
struct span *grouping_area_spans(const struct placement *placement);

/// Makes groups of ranks that share an area, consecutive or not. Ranks that several areas link are one group.
/// Close it, as what follows, with grouping_close().
void grouping_areas(struct grouping *grouping, const struct placement *placement);

/// Makes one group of the ranks of all areas for which from[area] or to[area] is set, consecutive or not;
/// NULL stands for all areas. Every other rank is alone.
void grouping_members(struct grouping *grouping, const struct placement *placement, const bool *from,
                      const bool *to);

/// Makes groups of `block` consecutive ranks; the last one has what is left.
void grouping_blocks(struct grouping *grouping, int ranks, int block);

void grouping_close(struct grouping *grouping);

/// Returns the divisor of `ranks` that is closest to their square root; of two that are equally close, the
/// smaller one.
int grouping_square(int ranks);
