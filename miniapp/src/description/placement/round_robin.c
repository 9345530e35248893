/// \file
/// The placement `round_robin`: every population is dealt to all ranks and threads, neuron by neuron, as
/// general simulators do.

#include "description/placement.h"

/// Deals every population to all ranks, as general simulators do (NEST deals neuron ids to virtual
/// processes).
static bool deal_all(const struct network *network, int ranks, struct range *ranges, struct error *error) {
    (void)error;
    for (uint32_t p = 0; p < network->n_populations; p++)
        ranges[p] = (struct range){.origin = 0, .first_rank = 0, .ranks = ranks};
    return true;
}

const struct placement_rule placement_round_robin = {
    .name = "round_robin",
    .summary = "neurons dealt one by one to all ranks and threads",
    .place = deal_all,
    .spread = spread_over_all,
};
