#include "description/placement_weights.h"

/// Deals every population to all ranks, as general simulators do (NEST deals neuron ids to virtual
/// processes).
static bool deal(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    (void)error;
    for (uint32_t p = 0; p < network->n_populations; p++)
        deals[p] = (struct deal){.origin = 0, .first_rank = 0, .ranks = ranks};
    return true;
}

/// Spreads every area over all ranks.
static void spread(const struct network *network, int ranks, const double *weights,
                   struct area_ranks *spans) {
    (void)weights;
    for (uint32_t area = 0; area < network->n_areas; area++) spans[area] = (struct area_ranks){0, ranks};
}

const struct placement_rule placement_round_robin = {
    .name = "round_robin",
    .summary = "neurons dealt one by one to all ranks and threads",
    .deal = deal,
    .spread = spread,
};
