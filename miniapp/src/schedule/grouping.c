/// \file
/// Divides the ranks of a run into groups: blocks, ranks that share an area, ranks of given areas.
///
/// Ranks that share areas are found by joining: two ranks that hold the same area get the same name, the
/// lower rank, and names are followed to their end (lowest(), join(); a union-find). Everything is arithmetic
/// on the placement, the same on all ranks, without communication.
///
/// Cost: ranges of the placement + ranks. Memory: 12 bytes for each rank.

#include "schedule/grouping.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

struct span *grouping_area_spans(const struct placement *placement) {
    const struct network *network = placement->network;
    struct span *spans = ALLOC(struct span, network->n_areas);
    for (uint32_t area = 0; area < network->n_areas; area++)
        spans[area] = (struct span){placement->ranks, -1};
    for (uint32_t k = 0; k < placement_ranges(placement); k++) {
        const struct range *range = &placement->ranges[k];
        struct span *span = &spans[network->populations[range->population].area];
        const int last = range->first_rank + range->ranks - 1;
        if (range->ranks == 0) continue;
        if (range->first_rank < span->first) span->first = range->first_rank;
        if (last > span->last) span->last = last;
    }
    for (uint32_t area = 0; area < network->n_areas; area++)
        if (spans[area].last < 0) spans[area] = (struct span){0, 0};
    return spans;
}

/// Opens groups of single ranks.
static void open_groups(struct grouping *grouping, int ranks) {
    *grouping = (struct grouping){.ranks = ranks};
    grouping->first = ALLOC(int, (size_t)ranks);
    grouping->place = ALLOC(int, (size_t)ranks);
    grouping->size = ALLOC_ZERO(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = rank;
}

/// Numbers the ranks of the groups whose first ranks are known.
static void number_groups(struct grouping *grouping) {
    // A rank gets the next number of its group; at first its size is known to the first rank only.
    for (int rank = 0; rank < grouping->ranks; rank++) {
        const int first = grouping->first[rank];
        grouping->place[rank] = grouping->size[first]++;
        if (grouping->size[first] > grouping->largest) grouping->largest = grouping->size[first];
        grouping->groups += first == rank;
    }
    for (int rank = 0; rank < grouping->ranks; rank++)
        grouping->size[rank] = grouping->size[grouping->first[rank]];
}

/// Returns the lowest rank that is known to share a group with this one.
static int lowest(int *first, int rank) {
    while (first[rank] != rank) rank = first[rank] = first[first[rank]];
    return rank;
}

/// Makes one group of those of two ranks; the lower rank names it.
static void join(int *first, int a, int b) {
    a = lowest(first, a);
    b = lowest(first, b);
    first[a > b ? a : b] = a > b ? b : a;
}

void grouping_areas(struct grouping *grouping, const struct placement *placement) {
    const struct network *network = placement->network;
    const int ranks = placement->ranks;
    int *reach = ALLOC(int, (size_t)ranks);    // the last rank of any range that begins on this one
    int *found = ALLOC(int, network->n_areas); // a rank of the area
    // Ranks that hold an area become one group; those that hold several areas link them.
    open_groups(grouping, ranks);
    for (uint32_t area = 0; area < network->n_areas; area++) found[area] = -1;
    for (int rank = 0; rank < ranks; rank++) reach[rank] = rank;
    for (uint32_t k = 0; k < placement_ranges(placement); k++) {
        const struct range *range = &placement->ranges[k];
        const uint32_t area = network->populations[range->population].area;
        const int first = range->first_rank, last = first + range->ranks - 1;
        if (range->ranks == 0) continue;
        if (last > reach[first]) reach[first] = last;
        if (found[area] >= 0) join(grouping->first, found[area], first);
        found[area] = first;
    }
    // A range over several ranks links all of them.
    for (int rank = 1, last = reach[0]; rank < ranks; rank++) {
        if (rank <= last) join(grouping->first, rank - 1, rank);
        if (reach[rank] > last) last = reach[rank];
    }
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = lowest(grouping->first, rank);
    number_groups(grouping);
    FREE(found, reach);
}

void grouping_members(struct grouping *grouping, const struct placement *placement, const bool *from,
                      const bool *to) {
    const int ranks = placement->ranks;
    int *begins =
        ALLOC_ZERO(int, (size_t)ranks + 1); // ranges to members that begin here, less those that ended
    open_groups(grouping, ranks);
    for (uint32_t k = 0; k < placement_ranges(placement); k++) {
        const struct range *range = &placement->ranges[k];
        const uint32_t area = placement->network->populations[range->population].area;
        const bool member = !from || from[area] || !to || to[area];
        if (range->ranks == 0 || !member) continue;
        begins[range->first_rank]++;
        begins[range->first_rank + range->ranks]--;
    }
    int first = -1;
    for (int rank = 0, ranges = 0; rank < ranks; rank++) {
        ranges += begins[rank];
        if (ranges == 0) continue;
        if (first < 0) first = rank;
        grouping->first[rank] = first;
    }
    number_groups(grouping);
    free(begins);
}

int grouping_square(int ranks) {
    int best = 1;
    for (int block = 1; block <= ranks; block++)
        if (ranks % block == 0 && fabs(block - sqrt(ranks)) < fabs(best - sqrt(ranks))) best = block;
    return best;
}

void grouping_blocks(struct grouping *grouping, int ranks, int block) {
    open_groups(grouping, ranks);
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = rank / block * block;
    number_groups(grouping);
}

void grouping_close(struct grouping *grouping) {
    FREE(grouping->first, grouping->place, grouping->size);
}
