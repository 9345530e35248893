#include "run/dry.h"

#include "measurement/clock.h"
#include "neuron/model.h"
#include <math.h>

bool dry_check(struct dry *dry, const struct description *description, struct error *error) {
    const struct network *network = &description->network;
    const struct population *unknown = NULL;
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (network->populations[p].size > 0 && !neuron_model_find(network->populations[p].model)->train)
            unknown = &network->populations[p];
    dry->exact_spikes = !unknown;
    const double draws = (double)network_synapses(network);
    const double most = dry->of <= dry_ranks_most ? dry_draws_most : dry_draws_few;
    dry->exact_routes = dry->routing == routing_exact || (dry->routing == routing_by_size && draws <= most);
    if (unknown && isnan(dry->rate_hz))
        return error_set(error,
                         "--rate: missing, and the rate of population %.60s (%.40s) is unknown, since its "
                         "spikes depend on what it receives; allowed: the spikes/s of such neurons",
                         unknown->name, unknown->model);
    if (!unknown && !isnan(dry->rate_hz))
        return error_set(error, "--rate: %.10g; allowed: none, since the spikes of all neurons are known",
                         dry->rate_hz);
    return true;
}

static uint64_t words(const struct lane *lanes, int n) {
    uint64_t sum = 0;
    for (int l = 0; l < n; l++) sum += lane_words(&lanes[l]);
    return sum;
}

void dry_begin_routes(struct dry *dry) {
    dry->routes_s = -clock_now();
}

void dry_end_routes(struct dry *dry) {
    dry->routes_s += clock_now();
}

void dry_reset(struct dry *dry, const struct lane *lanes, int n) {
    dry->prepare_s = dry->inbox_s = 0;
    dry->reference = words(lanes, n);
}

void dry_exchange(struct dry *dry, struct lane *lane, uint32_t next, bool all) {
    const double begin = clock_now();
    lane_make_up(lane, next);
    const double prepared = clock_now();
    lane_start(lane, next);
    lane_finish(lane, all);
    dry->inbox_s += clock_now() - prepared;
    dry->prepare_s += prepared - begin;
}

void dry_end(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n) {
    static const enum phase of_others[] = {phase_synchronise, phase_exchange, phase_overlap_wait};
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) cycle_log_unmeasured(log, of_others[i]);
    dry->words = words(lanes, n) - dry->reference;
}
