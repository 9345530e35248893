/// \file
/// The placement `area`: every area on one rank, in the order of their first appearance (Lober et al.
/// 2026 have one area per rank).

#include "base/error.h"
#include "description/placement.h"

/// Deals the areas; fails where there are fewer of them than ranks.
static bool deal_areas(const struct network *network, int ranks, struct range *ranges, struct error *error) {
    if (network->n_areas < (uint32_t)ranks)
        return error_set(error,
                         "placement: \"area\" cannot deal %u area(s) to %d ranks; expected at most %u ranks, "
                         "or placement area_group",
                         network->n_areas, ranks, network->n_areas);
    for (uint32_t p = 0; p < network->n_populations; p++)
        ranges[p] = (struct range){.origin = placement_area_origin(network, p),
                                   .first_rank = (int)(network->populations[p].area % (uint32_t)ranks),
                                   .ranks = 1};
    return true;
}

const struct placement_rule placement_area = {
    .name = "area",
    .summary = "areas dealt to ranks, an area on one rank",
    .place = deal_areas,
    .spread = spread_never,
};
