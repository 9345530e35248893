#include "run/limits.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Refuses a thread that has more synapses from a neuron, as far as they can be expected, than it can count.
static bool check_sources(const struct model *model, int thread, struct error *error) {
    const double most = 4e9; // somewhat less than 2^32, since in-degrees and sources are random
    const struct network *network = &model->description->network;
    double *synapses = ALLOC_ZERO(double, network->n_populations); // from each neuron of a population
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const double targets = placement_thread_count(model->placement, p->target, model->rank, thread);
        for (uint32_t k = 0; k < p->n_sources; k++)
            synapses[p->sources[k]] += targets * p->indegree.mean / p->pool;
    }
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (synapses[p] > most)
            error_set(error,
                      "network: %.4g synapses from a neuron of population %.60s to one thread; allowed: at "
                      "most %.4g, so take more ranks or threads",
                      synapses[p], network->populations[p].name, most);
    free(synapses);
    return !error_stands(error);
}

bool limits_check_share(const struct model *model, struct error *error) {
    const struct network *network = &model->description->network;
    const uint32_t steps = model->description->steps_per_cycle;
    struct synapse_format format;
    for (int t = 0; t < model->threads; t++) {
        uint64_t neurons = 0;
        for (uint32_t p = 0; p < network->n_populations; p++)
            neurons += placement_thread_count(model->placement, p, model->rank, t);
        if (neurons * steps > UINT32_MAX)
            return error_set(error,
                             "time.cycle_ms: %.10g, %u steps; allowed: at most %llu steps with %llu neurons "
                             "per thread, so that the spikes of a cycle can be counted",
                             model->description->given.cycle_ms, steps,
                             (unsigned long long)(UINT32_MAX / neurons), (unsigned long long)neurons);
        if (!check_sources(model, t, error) ||
            !synapse_format(&format, (uint32_t)neurons, network->longest_delay, model->weights,
                            model->n_classes, error))
            return false;
    }
    return true;
}

bool limits_check_lanes(const struct model *model, struct error *error) {
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        if (lane->backend->broadcast && lane->plan->shortest_delay > 0 &&
            model->neurons > spike_lists_limit(lane->format))
            return error_set(
                error,
                "exchange: \"%s\" for lane %s: %u neurons on a rank; allowed: %llu, which a four-byte "
                "spike can name beside the step, so take more ranks or shorter windows",
                lane->backend->name, lane->plan->name, model->neurons,
                (unsigned long long)spike_lists_limit(lane->format));
    }
    return true;
}

bool limits_check_words(const struct lane_plan *plan, const struct description *description, uint64_t lists,
                        struct error *error) {
    const uint64_t steps = description->steps_per_cycle;
    const uint64_t named = spike_lists_limit(spike_format(plan->period * steps));
    uint64_t most = plan->period; // cycles of a window that would do
    if (lists <= named) return true;
    while (most > 0 && spike_lists_limit(spike_format(most * steps)) < lists) most--;
    if (most > 0)
        return error_set(error,
                         "delay_ratio: lane %s has windows of %u cycles and %llu lists on a rank, of which a "
                         "four-byte spike can name %llu beside the step; allowed: windows of at most %llu "
                         "cycles (delay_ratio, period), or more ranks",
                         plan->name, plan->period, (unsigned long long)lists, (unsigned long long)named,
                         (unsigned long long)most);
    return error_set(error,
                     "network: lane %s has %llu lists on a rank; allowed: at most %llu, which a four-byte "
                     "spike can name beside the step of windows of one cycle, so take more ranks",
                     plan->name, (unsigned long long)lists,
                     (unsigned long long)spike_lists_limit(spike_format(steps)));
}
