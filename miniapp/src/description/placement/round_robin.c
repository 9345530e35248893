#include "description/placement.h"

/// Deals every population to all ranks, as general simulators do (NEST deals neuron ids to virtual
/// processes).
static bool deal(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    (void)error;
    for (uint32_t p = 0; p < network->n_populations; p++)
        deals[p] = (struct deal){.origin = 0, .first_rank = 0, .ranks = ranks};
    return true;
}

const struct placement_rule placement_round_robin = {
    .name = "round_robin",
    .summary = "neurons dealt one by one to all ranks and threads",
    .deal = deal,
};
