#include "description/placement_ranges.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Adds the neurons first ... end - 1 of a range, to the last deal if that has the same rank. The threads of
/// a rank take turns from one deal to the next: otherwise thread 0 would get the first neuron of each.
/// `dealt` [ranks] counts the neurons on each rank.
static void add_deal(struct placement *placement, const struct range *range, uint32_t population,
                     uint32_t first, uint32_t end, uint32_t *dealt) {
    const uint32_t over = (uint32_t)range->over, at_first = (first - range->origin) % over;
    const uint32_t number = placement->first_deal[population + 1];
    struct deal *deal = &placement->deals[number];
    if (over == 1 && number > placement->first_deal[population] && deal[-1].ranks == 1 &&
        deal[-1].first_rank == range->rank) {
        deal[-1].end = end;
        dealt[range->rank] += end - first;
        return;
    }
    placement->first_deal[population + 1]++;
    const uint32_t round = dealt[(uint32_t)range->rank + at_first] % (uint32_t)placement->threads;
    *deal = (struct deal){.first = first,
                          .end = end,
                          .population = population,
                          .origin = first - at_first - round * over,
                          .first_rank = range->rank,
                          .ranks = range->over};
    for (uint32_t i = 0; i < over; i++) {
        const uint32_t skip = (i + over - at_first) % over;
        dealt[(uint32_t)range->rank + i] += end - first > skip ? (end - first - skip - 1) / over + 1 : 0;
    }
}

/// Cuts the ranges where populations end. A population without neurons has a deal to no rank.
void placement_deal_ranges(struct placement *placement, const struct range *ranges, size_t n) {
    const struct network *network = placement->network;
    placement->deals = ALLOC(struct deal, n + network->n_populations);
    uint32_t *dealt = ALLOC_ZERO(uint32_t, (size_t)placement->ranks);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const uint32_t begin = network->populations[p].first, end = begin + network->populations[p].size;
        placement->first_deal[p + 1] = placement->first_deal[p];
        if (begin == end) {
            placement->deals[placement->first_deal[p + 1]++] =
                (struct deal){.first = begin, .end = end, .population = p};
            continue;
        }
        for (uint32_t at = begin; at < end;) {
            while (ranges->end <= at) ranges++;
            const uint32_t stop = ranges->end < end ? ranges->end : end;
            add_deal(placement, ranges, p, at, stop, dealt);
            at = stop;
        }
    }
    free(dealt);
}
