#include "record/warnings.h"

#include "measurement/simulated.h"
#include "schedule/lane_json.h"
#include <math.h>
#include <string.h>

double foreign_load(const struct results *results) {
    const struct rank_tally *first = &results->ranks[0];
    const double shortest_s = 0.2; // the system counts in ticks of 10 ms
    if (!(first->simulate_s >= shortest_s) || isnan(first->node_busy_s)) return NAN;
    double own_s = 0;
    for (int r = 0; r < results->model->ranks; r++)
        if (results->ranks[r].node == first->node) own_s += results->ranks[r].process_s;
    return fmax(0, first->node_busy_s - own_s) / first->simulate_s;
}

/// Warns of a network that is silent or diverges. It runs all the same, but hardly anybody means it to.
static void warn_of_rate(json_t *list, const struct results *results) {
    const double many_hz = 200;
    const struct description *d = results->description;
    uint64_t spikes = 0, neurons = 0;
    for (int r = 0; r < results->model->ranks; r++) {
        spikes += results->ranks[r].counts.spikes;
        neurons += results->ranks[r].neurons;
    }
    double rate_hz = (double)spikes / (double)neurons / (1e-3 * d->given.cycle_ms * d->cycles);
    if (spikes == 0) json_array_append_new(list, json_string("silent: no neuron fired in the measured part"));
    if (rate_hz > many_hz)
        json_array_append_new(list, json_sprintf("high rate: %.4g spikes/s per neuron; above %g the network "
                                                 "may have diverged",
                                                 rate_hz, many_hz));
}

/// Warns of rates that are out of reach: a neuron that fires at its own rate cannot fire more than once per
/// step.
static void warn_of_rate_asked_for(json_t *list, const struct results *results) {
    const struct description *d = results->description;
    const double most_hz = 1000 / d->given.resolution_ms;
    for (uint32_t p = 0; p < d->network.n_populations; p++) {
        const struct population *population = &d->network.populations[p];
        const struct population_model *neurons = &results->model->neuron_models[p];
        for (uint32_t i = 0; population->size > 0 && i < neurons->model->n_parameters; i++)
            if (strcmp(neurons->model->parameters[i].name, "rate_hz") == 0 &&
                neurons->parameters[i] > most_hz)
                json_array_append_new(
                    list,
                    json_sprintf("rate_hz of population %s: %.10g cannot be reached; at most %.10g, one "
                                 "spike in each step of %.10g ms",
                                 population->name, neurons->parameters[i], most_hz, d->given.resolution_ms));
    }
}

/// Warns of readings of energy that failed, by channel.
static void warn_of_failed_readings(json_t *list, const struct energy_record *record) {
    for (int n = 0; n < record->nodes; n++)
        for (int c = 0; c < record->node[n].n_channels; c++)
            if (record->node[n].channel[c].failed > 0)
                json_array_append_new(
                    list, json_sprintf("energy: %u readings of %s on node %d failed, the last one because of "
                                       "%s",
                                       record->node[n].channel[c].failed, record->node[n].channel[c].name,
                                       record->node[n].node, record->node[n].channel[c].reason));
}

/// Warns of what the machine does to the times.
static void warn_of_host(json_t *list, const struct results *results) {
    const struct model *model = results->model;
    const struct host *host = results->host;
    int wanted = results->ranks[0].node_ranks * model->threads;
    if (host->cores > 0 && wanted > host->cores)
        json_array_append_new(
            list, json_sprintf("oversubscribed: %d ranks x %d threads on %d cores of a node; times "
                               "are no evidence of speed",
                               results->ranks[0].node_ranks, model->threads, host->cores));
    if (host->usable_threads > 0 && model->threads > host->usable_threads)
        json_array_append_new(
            list,
            json_sprintf("bound too tightly: rank 0 has %d threads and may use %d hardware thread(s); try "
                         "mpirun --bind-to none",
                         model->threads, host->usable_threads));
    if (host->virtual_machine)
        json_array_append_new(list, json_string("virtual machine: other guests and the hypervisor affect the "
                                                "times"));
    double foreign = foreign_load(results),
           stolen = results->ranks[0].node_stolen_s / results->ranks[0].simulate_s;
    if (foreign > 0.1)
        json_array_append_new(list,
                              json_sprintf("foreign load: other processes kept %.2f cores busy", foreign));
    if (stolen > 0.02)
        json_array_append_new(list, json_sprintf("stolen time: the hypervisor took %.2f cores away", stolen));
}

/// Lists what the network does, whatever the machine.
static json_t *of_network(const struct results *results) {
    json_t *list = json_array();
    warn_of_rate(list, results);
    warn_of_rate_asked_for(list, results);
    return list;
}

void warnings_print(const struct results *results) {
    json_t *list = of_network(results), *warning;
    size_t i;
    json_array_foreach(list, i, warning)
        fprintf(stderr, "miniapp: warning: %s\n", json_string_value(warning));
    json_decref(list);
}

json_t *warnings(const struct results *results) {
    json_t *list = of_network(results);
    const struct model *model = results->model;
    if (!time_is_simulated) warn_of_host(list, results);
    if (strcmp(results->sysfs, "/sys") != 0)
        json_array_append_new(
            list, json_sprintf("SPIKEMARK_SYSFS: energy meters were looked for in %s, not in /sys",
                               results->sysfs));
    warn_of_failed_readings(list, results->energy);
    if (results->counters->by_phase)
        json_array_append_new(list,
                              json_string("counters were read at the seams of every cycle: times are longer "
                                          "than without, see timing.counter_overhead"));
    if (strcmp(model->schedule->rule.name, "placement_only") == 0 &&
        strcmp(model->placement->rule->name, "round_robin") == 0)
        json_array_append_new(
            list, json_sprintf("schedule placement_only with placement %s does what conventional does",
                               model->placement->rule->name));
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane_plan *plan = &model->schedule->lanes[l];
        if (lane_blocks(plan))
            json_array_append_new(list, json_sprintf("lane %s: exchange %s blocks, so nothing overlaps",
                                                     plan->name, plan->exchange.backend->name));
    }
    return list;
}
