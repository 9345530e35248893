#include "schedule/grouping.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

struct span *grouping_area_spans(const struct placement *placement) {
    const struct network *network = placement->network;
    struct span *spans = ALLOC(struct span, network->n_areas);
    for (uint32_t area = 0; area < network->n_areas; area++)
        spans[area] = (struct span){placement->ranks, -1};
    for (uint32_t p = 0; p < network->n_populations; p++) {
        struct span *span = &spans[network->populations[p].area];
        const int first = placement->deals[p].first_rank, last = first + placement->deals[p].ranks - 1;
        if (first < span->first) span->first = first;
        if (last > span->last) span->last = last;
    }
    return spans;
}

static void open(struct grouping *grouping, int ranks) {
    *grouping = (struct grouping){.ranks = ranks};
    grouping->first = ALLOC(int, (size_t)ranks);
    grouping->place = ALLOC(int, (size_t)ranks);
    grouping->size = ALLOC(int, (size_t)ranks);
}

/// Makes ranks first ... last one group.
static void set(struct grouping *grouping, int first, int last) {
    for (int rank = first; rank <= last; rank++) {
        grouping->first[rank] = first;
        grouping->place[rank] = rank - first;
        grouping->size[rank] = last - first + 1;
    }
    if (last - first + 1 > grouping->largest) grouping->largest = last - first + 1;
    grouping->groups++;
}

void grouping_blocks(struct grouping *grouping, int ranks, int block) {
    open(grouping, ranks);
    for (int first = 0; first < ranks; first += block) set(grouping, first, first + block - 1);
}

void grouping_areas(struct grouping *grouping, int ranks, const struct span *areas, uint32_t n_areas) {
    int *reach = ALLOC(int, (size_t)ranks); // the last rank of any area that begins on this one
    for (int rank = 0; rank < ranks; rank++) reach[rank] = rank;
    for (uint32_t area = 0; area < n_areas; area++)
        if (areas[area].last > reach[areas[area].first]) reach[areas[area].first] = areas[area].last;
    open(grouping, ranks);
    for (int first = 0; first < ranks;) {
        int last = first;
        for (int rank = first; rank <= last; rank++)
            if (reach[rank] > last) last = reach[rank];
        set(grouping, first, last);
        first = last + 1;
    }
    free(reach);
}

void grouping_members(struct grouping *grouping, int ranks, const struct span *areas, uint32_t n_areas,
                      const struct lane_areas *members) {
    bool *member = ALLOC_ZERO(bool, (size_t)ranks);
    int first = ranks, size = 0;
    for (uint32_t area = 0; area < n_areas; area++)
        for (int rank = areas[area].first; lane_areas_hold(members, area) && rank <= areas[area].last; rank++)
            member[rank] = true;
    open(grouping, ranks);
    for (int rank = ranks - 1; rank >= 0; rank--) {
        size += member[rank];
        first = member[rank] ? rank : first;
        if (!member[rank]) set(grouping, rank, rank);
    }
    for (int rank = 0, place = 0; rank < ranks; rank++) {
        if (!member[rank]) continue;
        grouping->first[rank] = first;
        grouping->place[rank] = place++;
        grouping->size[rank] = size;
    }
    grouping->groups += size > 0;
    grouping->largest = size > grouping->largest ? size : grouping->largest;
    free(member);
}

void grouping_close(struct grouping *grouping) {
    free(grouping->first);
    free(grouping->place);
    free(grouping->size);
}

int grouping_square(int ranks) {
    int best = 1;
    for (int block = 1; block <= ranks; block++)
        if (ranks % block == 0 && fabs(block - sqrt(ranks)) < fabs(best - sqrt(ranks))) best = block;
    return best;
}
