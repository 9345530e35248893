#include "schedule/lane_sources.h"

#include <math.h>

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
            const double hit = 1 / fmax(p->pool, 1.0000001);
            synapses[lane] += drawn * source->size / p->pool;
            log_missed[(size_t)lane * network->n_populations + p->sources[k]] +=
                drawn * (p->indegree.above ? -hit : log1p(-hit));
        }
    }
}
