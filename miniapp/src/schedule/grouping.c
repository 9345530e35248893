#include "schedule/grouping.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

struct span *grouping_area_spans(const struct placement *placement) {
    const struct network *network = placement->network;
    struct span *spans = ALLOC(struct span, network->n_areas);
    for (uint32_t area = 0; area < network->n_areas; area++)
        spans[area] = (struct span){placement->ranks, -1};
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        struct span *span = &spans[network->populations[deal->population].area];
        const int last = deal->first_rank + deal->ranks - 1;
        if (deal->ranks == 0) continue;
        if (deal->first_rank < span->first) span->first = deal->first_rank;
        if (last > span->last) span->last = last;
    }
    for (uint32_t area = 0; area < network->n_areas; area++)
        if (spans[area].last < 0) spans[area] = (struct span){0, 0};
    return spans;
}

/// Opens groups of single ranks.
static void open(struct grouping *grouping, int ranks) {
    *grouping = (struct grouping){.ranks = ranks};
    grouping->first = ALLOC(int, (size_t)ranks);
    grouping->place = ALLOC(int, (size_t)ranks);
    grouping->size = ALLOC_ZERO(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = rank;
}

/// Numbers the ranks of the groups whose first ranks are known.
static void number(struct grouping *grouping) {
    for (int rank = 0; rank < grouping->ranks; rank++) {
        const int first = grouping->first[rank];
        grouping->place[rank] = grouping->size[first]++;
        if (grouping->size[first] > grouping->largest) grouping->largest = grouping->size[first];
        grouping->groups += first == rank;
    }
    for (int rank = 0; rank < grouping->ranks; rank++)
        grouping->size[rank] = grouping->size[grouping->first[rank]];
}

void grouping_blocks(struct grouping *grouping, int ranks, int block) {
    open(grouping, ranks);
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = rank / block * block;
    number(grouping);
}

/// Returns the lowest rank that is known to share a group with this one.
static int lowest(int *first, int rank) {
    while (first[rank] != rank) rank = first[rank] = first[first[rank]];
    return rank;
}

static void join(int *first, int a, int b) {
    a = lowest(first, a);
    b = lowest(first, b);
    first[a > b ? a : b] = a > b ? b : a;
}

void grouping_areas(struct grouping *grouping, const struct placement *placement) {
    const struct network *network = placement->network;
    const int ranks = placement->ranks;
    int *reach = ALLOC(int, (size_t)ranks);    // the last rank of any deal that begins on this one
    int *found = ALLOC(int, network->n_areas); // a rank of the area
    open(grouping, ranks);
    for (uint32_t area = 0; area < network->n_areas; area++) found[area] = -1;
    for (int rank = 0; rank < ranks; rank++) reach[rank] = rank;
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        const uint32_t area = network->populations[deal->population].area;
        const int first = deal->first_rank, last = first + deal->ranks - 1;
        if (deal->ranks == 0) continue;
        if (last > reach[first]) reach[first] = last;
        if (found[area] >= 0) join(grouping->first, found[area], first);
        found[area] = first;
    }
    for (int rank = 1, last = reach[0]; rank < ranks; rank++) {
        if (rank <= last) join(grouping->first, rank - 1, rank);
        if (reach[rank] > last) last = reach[rank];
    }
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = lowest(grouping->first, rank);
    number(grouping);
    free(found);
    free(reach);
}

void grouping_members(struct grouping *grouping, const struct placement *placement,
                      const struct lane_areas *members) {
    const int ranks = placement->ranks;
    int *begins =
        ALLOC_ZERO(int, (size_t)ranks + 1); // deals to members that begin here, less those that ended
    open(grouping, ranks);
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        if (deal->ranks == 0 ||
            !lane_areas_hold(members, placement->network->populations[deal->population].area))
            continue;
        begins[deal->first_rank]++;
        begins[deal->first_rank + deal->ranks]--;
    }
    int first = -1;
    for (int rank = 0, deals = 0; rank < ranks; rank++) {
        deals += begins[rank];
        if (deals == 0) continue;
        if (first < 0) first = rank;
        grouping->first[rank] = first;
    }
    number(grouping);
    free(begins);
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
