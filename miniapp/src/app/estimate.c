#include "app/estimate.h"

#include "base/alloc.h"
#include "run/build.h"
#include <math.h>
#include <stdlib.h>

/// Returns the expected number of lists on a rank that has own[population] neurons. A source has a list in a
/// lane unless all draws of all projections miss it; a Poisson number of draws with mean K all miss it with
/// probability exp(-K hit).
static double expected_lists(const struct schedule *schedule, const struct placement *placement,
                             const double *own) {
    const struct network *network = placement->network;
    double lists = 0;
    double *log_missed = ALLOC_ZERO(double, (size_t)schedule->n_lanes * network->n_populations);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const uint32_t target_area = network->populations[p->target].area;
        const double targets = own[p->target];
        for (uint32_t k = 0; k < p->n_sources; k++) {
            const uint32_t source = p->sources[k];
            int lane = schedule_lane(schedule, network->populations[source].area, target_area);
            if (lane < 0) continue; // there are no synapses then
            const double hit = 1 / fmax(p->pool, 1.0000001);
            log_missed[(size_t)lane * network->n_populations + source] +=
                targets * p->indegree.mean * (p->indegree.above ? -hit : log1p(-hit));
        }
    }
    for (int l = 0; l < schedule->n_lanes; l++)
        for (uint32_t p = 0; p < network->n_populations; p++)
            lists -= network->populations[p].size * expm1(log_missed[(size_t)l * network->n_populations + p]);
    free(log_missed);
    return lists;
}

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank) {
    const struct network *network = &description->network;
    struct estimate e = {0};
    double neurons = 0, *own = ALLOC_ZERO(double, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        for (int t = 0; t < placement->threads; t++) own[p] += placement_share(placement, p, rank, t).count;
        const double here = own[p];
        neurons += here;
        e.neurons += here * (double)neuron_model_find(network->populations[p].model)->bytes_per_neuron;
        if (network->populations[p].external.mean > 0) e.neurons += here * external_steps;
    }
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *projection = &network->projections[i];
        e.synapses += (network->normal ? 8.0 : 4.0) * own[projection->target] * projection->indegree.mean;
    }
    double lists = expected_lists(schedule, placement, own);
    free(own);
    e.lists = 4 * lists * placement->threads;
    // Every list somewhere is a route somewhere else; by symmetry a rank holds as many routes as it has
    // lists.
    e.routes = lists * (double)sizeof(struct route) + 8 * neurons * schedule->n_lanes;
    e.ring = (network->narrow_input ? 2 : 4) * neurons * (network->longest_delay + 1);
    e.buffers = neurons * description->steps_per_cycle * (double)sizeof(struct spike) +
                placement->threads * block_neurons * 8.0;
    return e;
}

double estimate_sum(const struct estimate *e) {
    return e->neurons + e->synapses + e->lists + e->routes + e->ring + e->buffers;
}
