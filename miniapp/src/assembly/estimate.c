#include "assembly/estimate.h"

#include "assembly/build.h"
#include <math.h>

/// Expected number of sources out of `pool` that `draws` uniform draws hit.
static double distinct(double pool, double draws) {
    return pool > 0 ? -pool * expm1(draws * log1p(-1 / fmax(pool, 1.0000001))) : 0;
}

/// Expected lists on a rank: the sources of its synapses, lane by lane, projection by projection, as if no
/// source were shared between projections, but not more than there are neurons.
static double expected_lists(const struct schedule *schedule, const struct placement *placement, int rank) {
    const struct network *network = placement->network;
    double lists = 0;
    for (int l = 0; l < schedule->n_lanes; l++) {
        double in_lane = 0;
        for (uint32_t i = 0; i < network->n_projections; i++) {
            const struct projection *p = &network->projections[i];
            bool carried = (lane_carries(&schedule->lanes[l], true) && p->relation != relation_far) ||
                           (lane_carries(&schedule->lanes[l], false) && p->relation != relation_near);
            double targets = 0;
            for (int t = 0; t < placement->threads; t++)
                targets += placement_share(placement, p->target, rank, t).count;
            if (carried) in_lane += distinct(p->pool, targets * p->indegree);
        }
        lists += fmin(in_lane, network->n_neurons);
    }
    return lists;
}

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank) {
    const struct network *network = &description->network;
    struct estimate e = {0};
    double neurons = 0;
    for (uint32_t p = 0; p < network->n_populations; p++) {
        double here = 0;
        for (int t = 0; t < placement->threads; t++) here += placement_share(placement, p, rank, t).count;
        neurons += here;
        e.neurons += here * (double)neuron_model_find(network->populations[p].model)->bytes_per_neuron;
        for (uint32_t i = 0; i < network->n_projections; i++)
            if (network->projections[i].target == p)
                e.synapses += 4.0 * here * network->projections[i].indegree;
    }
    double lists = expected_lists(schedule, placement, rank);
    e.lists = 4 * lists * placement->threads;
    // Every list somewhere is a route somewhere; by symmetry a rank holds as many as it asks for.
    e.routes = lists * (double)sizeof(struct route) + 8 * neurons * schedule->n_lanes;
    e.ring = (network->narrow_input ? 2 : 4) * neurons * (network->longest_delay + 1);
    e.buffers = neurons * description->steps_per_cycle * (double)sizeof(struct spike) +
                placement->threads * block_neurons * 8.0;
    return e;
}

double estimate_sum(const struct estimate *e) {
    return e->neurons + e->synapses + e->lists + e->routes + e->ring + e->buffers;
}
