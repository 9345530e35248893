/// \file
/// Expected sources of a rank by lane, for the estimate of memory and for dry runs.
///
/// A neuron is a source of the rank unless all draws miss it. With K draws that each hit it with probability
/// `hit`, that happens with probability (1 - hit)^K; where K is a Poisson number of mean K, with
/// exp(-K hit). Probabilities of misses multiply over projections, so their logarithms add up.
///
/// Cost: projections x their source populations; nothing is drawn.

#include "schedule/lane_sources.h"

#include "schedule/schedule.h"

void lane_sources_expect(const struct schedule *schedule, const struct network *network, const double *own,
                         double *synapses, double *log_missed) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const uint32_t target_area = network->populations[p->target].area;
        const double drawn = own[p->target] * p->indegree.mean;
        for (uint32_t k = 0; drawn > 0 && k < p->n_sources; k++) {
            const struct population *source = &network->populations[p->sources[k]];
            int lane = schedule_lane(schedule, source->area, target_area);
            if (lane < 0) continue; // there are no synapses then
            // A draw hits a certain neuron of the pool with this probability; the logarithms of misses add
            // up.
            const double hit = 1 / fmax(p->pool, 1.0000001);
            synapses[lane] += drawn * source->size / p->pool;
            log_missed[(size_t)lane * network->n_populations + p->sources[k]] +=
                drawn * (p->indegree.above ? -hit : log1p(-hit));
        }
    }
}
