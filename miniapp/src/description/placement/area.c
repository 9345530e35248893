#include "description/placement.h"

/// Returns the id of the first neuron of the area that `population` belongs to.
static uint32_t area_origin(const struct network *network, uint32_t population) {
    uint32_t p = 0;
    while (network->populations[p].area != network->populations[population].area) p++;
    return network->populations[p].first;
}

/// Deals the areas to the ranks in the order of their first appearance (Lober et al. 2026 have one area per
/// rank).
static bool deal(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    if (network->n_areas < (uint32_t)ranks)
        return error_set(error,
                         "placement: \"area\" cannot deal %u area(s) to %d ranks; allowed: at most %u ranks, "
                         "or placement area_group",
                         network->n_areas, ranks, network->n_areas);
    for (uint32_t p = 0; p < network->n_populations; p++)
        deals[p] = (struct deal){.origin = area_origin(network, p),
                                 .first_rank = (int)(network->populations[p].area % (uint32_t)ranks),
                                 .ranks = 1};
    return true;
}

const struct placement_rule placement_area = {
    .name = "area",
    .summary = "areas dealt to ranks, an area on one rank",
    .deal = deal,
};
