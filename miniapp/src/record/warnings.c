#include "record/warnings.h"

#include "measurement/simulated.h"
#include "measurement/waiting.h"
#include "record/sharing.h"
#include "schedule/lane_json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double foreign_load(const struct results *results) {
    const struct rank_tally *first = &results->ranks[0];
    const double shortest_s = 0.2; // the system counts in ticks of 10 ms
    if (!(first->simulate_s >= shortest_s) || isnan(first->node_busy_s)) return NAN;
    double own_s = 0;
    for (int r = 0; r < results->model->processes; r++)
        if (results->nodes->of_rank[r] == 0) own_s += results->ranks[r].process_s;
    return fmax(0, first->node_busy_s - own_s) / first->simulate_s;
}

/// Returns the parameter of a population's neurons, or `otherwise` where the model has none of that name.
static double parameter_of(const struct population_model *neurons, const char *name, double otherwise) {
    for (uint32_t i = 0; i < neurons->model->n_parameters; i++)
        if (strcmp(neurons->model->parameters[i].name, name) == 0) return neurons->parameters[i];
    return otherwise;
}

/// Returns the highest rate that the description asks for, spikes/s: a neuron's own rate, or the rate at
/// which currents and input from outside alone, without a leak, would carry it from the reset to the
/// threshold.
static double asked_hz(const struct population *population, const struct population_model *neurons,
                       const struct description *d) {
    const double h_ms = d->given.resolution_ms, own_hz = parameter_of(neurons, "rate_hz", NAN);
    if (!isnan(own_hz)) return fmin(own_hz, 1000 / h_ms);
    const double reset = parameter_of(neurons, "V_reset_mV", NAN),
                 way = parameter_of(neurons, "V_th_mV", NAN) - reset,
                 C_pF = parameter_of(neurons, "C_m_pF", INFINITY),
                 tau_syn_ms = parameter_of(neurons, "tau_syn_ms", NAN);
    if (!(way > 0)) return 0; // no such model, or a potential that nobody can follow
    const double event_mV = population->external.weight * (isnan(tau_syn_ms) ? 1 : tau_syn_ms / C_pF);
    double mV_per_ms = population->external.mean / h_ms * event_mV;
    mV_per_ms += parameter_of(neurons, "I_e_pA", 0) / C_pF;
    mV_per_ms +=
        fmax(0, parameter_of(neurons, "E_L_mV", reset) - reset) / parameter_of(neurons, "tau_m_ms", 1);
    return mV_per_ms > 0 ? 1000 / (way / mV_per_ms + parameter_of(neurons, "t_ref_ms", 0)) : 0;
}

/// Warns of a network that is silent, or that fires much and more than its description asks for. It runs all
/// the same, but hardly anybody means it to.
static void warn_of_rate(json_t *list, const struct results *results) {
    const double many_hz = 200, by_chance = 1.05;
    const struct description *d = results->description;
    uint64_t spikes = 0, neurons = 0;
    double asked = 0; // of all ranks, also in a dry run of one
    for (int r = 0; r < results->model->processes; r++) {
        spikes += results->ranks[r].counts.spikes;
        neurons += results->ranks[r].neurons;
    }
    for (uint32_t p = 0; p < d->network.n_populations; p++)
        asked += d->network.populations[p].size *
                 asked_hz(&d->network.populations[p], &results->model->neuron_models[p], d) /
                 d->network.n_neurons;
    double rate_hz = (double)spikes / (double)neurons / (1e-3 * d->given.cycle_ms * d->cycles);
    if (spikes == 0) json_array_append_new(list, json_string("silent: no neuron fired in the measured part"));
    if (rate_hz > many_hz && rate_hz > by_chance * asked)
        json_array_append_new(list, json_sprintf("high rate: %.4g spikes/s per neuron; own rates and input "
                                                 "from outside ask for at most %.4g, so the network may have "
                                                 "diverged",
                                                 rate_hz, asked));
}

/// Returns the rate of a neuron that fires at its own rate, whole steps apart.
static double rate_in_steps(double hz, double resolution_ms) {
    return hz > 0 ? 1000 / (resolution_ms * fmax(1, nearbyint(1000 / (hz * resolution_ms)))) : 0;
}

/// Warns of rates that are out of reach, since a neuron that fires at its own rate does so whole steps apart.
static void warn_of_rate_asked_for(json_t *list, const struct results *results) {
    const struct description *d = results->description;
    const double much = 0.01, h_ms = d->given.resolution_ms;
    for (uint32_t p = 0; p < d->network.n_populations; p++) {
        const struct population *population = &d->network.populations[p];
        const struct population_model *neurons = &results->model->neuron_models[p];
        for (uint32_t i = 0; population->size > 0 && i < neurons->model->n_parameters; i++)
            if (strcmp(neurons->model->parameters[i].name, "rate_hz") == 0) {
                const double asked = neurons->parameters[i], has = rate_in_steps(asked, h_ms);
                if (fabs(has - asked) > much * asked)
                    json_array_append_new(
                        list, json_sprintf("rate_hz of population %s: %.10g cannot be reached; it "
                                           "becomes %.10g, since spikes are whole steps of %.10g "
                                           "ms apart",
                                           population->name, asked, has, h_ms));
            }
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

/// Writes on how many further nodes the same is true; the words are empty if there are none.
static const char *elsewhere(char words[64], int others) {
    words[0] = '\0';
    if (others > 0) snprintf(words, 64, ", and likewise on %d other node%s", others, others > 1 ? "s" : "");
    return words;
}

/// Returns whether a node has fewer cores than its ranks have threads.
static bool is_crowded(const struct node *node, int threads) {
    return node->host.cores > 0 && node->ranks * threads > node->host.cores;
}

static void warn_of_crowded_nodes(json_t *list, const struct results *results) {
    const int threads = results->model->threads;
    const struct node *worst = NULL;
    int crowded = 0;
    char words[64];
    for (int n = 0; n < results->nodes->count; n++) {
        const struct node *node = &results->nodes->node[n];
        if (!is_crowded(node, threads)) continue;
        crowded++;
        if (!worst || node->ranks * worst->host.cores > worst->ranks * node->host.cores) worst = node;
    }
    if (worst)
        json_array_append_new(list, json_sprintf("oversubscribed: %d ranks x %d threads on %d cores of node "
                                                 "%s%s; times are no evidence of speed",
                                                 worst->ranks, threads, worst->host.cores, worst->host.name,
                                                 elsewhere(words, crowded - 1)));
}

/// Warns of ranks with more threads than cores that they are bound to.
static void warn_of_tight_binding(json_t *list, const struct results *results) {
    const int threads = results->model->threads;
    const struct rank_tally *first = NULL;
    int rank = 0, tight = 0;
    for (int r = 0; r < results->model->processes; r++) {
        const struct rank_tally *t = &results->ranks[r];
        const int cores = results->nodes->node[results->nodes->of_rank[r]].host.cores;
        if (t->usable_cores == 0 || threads <= t->usable_cores) continue;
        if (t->usable_cores == cores) continue; // not bound: the node is crowded
        if (tight++ > 0) continue;
        first = t;
        rank = r;
    }
    if (first)
        json_array_append_new(
            list,
            json_sprintf("bound too tightly: rank %d on node %s has %d threads and may use %d core%s "
                         "(hardware threads %s), as %d of %d ranks are bound; try srun --cpus-per-task=%d "
                         "--hint=nomultithread, or mpirun --bind-to none",
                         rank, results->nodes->node[results->nodes->of_rank[rank]].host.name, threads,
                         first->usable_cores, first->usable_cores > 1 ? "s" : "", first->binding, tight,
                         results->model->processes, threads));
}

/// Warns of ranks that must share cores although their node has enough.
static void warn_of_shared_cores(json_t *list, const struct results *results) {
    const struct nodes *nodes = results->nodes;
    const int threads = results->model->threads;
    struct sharing first = {0}, found;
    int node = 0, nodes_found = 0;
    char words[64];
    for (int n = 0; n < nodes->count; n++) {
        if (is_crowded(&nodes->node[n], threads)) continue; // they share cores in any case
        if (!sharing_find(&found, nodes, n, results->ranks, results->model->processes, threads)) continue;
        if (nodes_found++ > 0) continue;
        first = found;
        node = n;
    }
    if (nodes_found > 0)
        json_array_append_new(
            list, json_sprintf("shared cores: %d ranks on node %s, such as ranks %d and %d (hardware threads "
                               "%s and %s), have %d threads on %d core%s%s; bind each rank to cores of its "
                               "own, as srun --hint=nomultithread does",
                               first.n_ranks, nodes->node[node].host.name, first.first, first.second,
                               results->ranks[first.first].binding, results->ranks[first.second].binding,
                               first.threads, first.cores, first.cores > 1 ? "s" : "",
                               elsewhere(words, nodes_found - 1)));
}

/// Warns of waiting that takes longer than libraries need, because threads sleep, and of threads on a crowded
/// node that spin all the same.
static void warn_of_waiting(json_t *list, const struct results *results) {
    const struct waiting waiting = waiting_read();
    const char *policy = getenv(waiting_variable[0].name);
    const int threads = results->model->threads;
    bool spinning = false; // threads wait for a hardware thread on some node
    for (int n = 0; n < results->nodes->count; n++) {
        const struct node *node = &results->nodes->node[n];
        spinning |=
            node->host.cores > 0 && node->ranks * threads > node->host.cores * node->host.threads_per_core;
    }
    if (waiting.passive && (spinning || threads > 1))
        json_array_append_new(list, json_sprintf("passive waiting: threads sleep while they wait "
                                                 "(OMP_WAIT_POLICY=%s, set by the %s); waiting takes longer "
                                                 "than it does when each thread has a core",
                                                 policy, waiting.chosen_by));
    else if (spinning && !waiting.passive)
        json_array_append_new(list, json_sprintf("active waiting: threads that share hardware threads keep "
                                                 "each other from working (OMP_WAIT_POLICY is %s); try "
                                                 "OMP_WAIT_POLICY=passive",
                                                 policy ? policy : "not set"));
}

/// Warns of what the machine does to the times.
static void warn_of_host(json_t *list, const struct results *results) {
    const struct host *host = results->host;
    warn_of_crowded_nodes(list, results);
    warn_of_tight_binding(list, results);
    warn_of_shared_cores(list, results);
    warn_of_waiting(list, results);
    const double step_s = results->step_s, least_s = 0.01;
    if (fabs(step_s) > least_s)
        json_array_append_new(list,
                              json_sprintf("system clock: it was set by %+.3f s during the run; times in "
                                           "the record go on as before",
                                           step_s));
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
    meter_sums_warn(results->meters, list);
    size_t i;
    json_array_foreach(list, i, warning)
        fprintf(stderr, "miniapp: warning: %s\n", json_string_value(warning));
    json_decref(list);
}

/// Warns of what a dry run could not know.
static void warn_of_dry_run(json_t *list, const struct dry *dry) {
    if (dry && !dry->exact_spikes)
        json_array_append_new(list, json_sprintf("dry run: neurons of other ranks whose spikes are not known "
                                                 "fire at equal intervals, %.10g spikes/s, by chance",
                                                 dry->rate_hz));
    if (dry && !dry->exact_routes)
        json_array_append_new(list, json_string("dry run: where the spikes of this rank go was drawn at "
                                                "random, with the right probabilities"));
}

json_t *warnings(const struct results *results) {
    json_t *list = of_network(results);
    const struct model *model = results->model;
    if (!time_is_simulated) warn_of_host(list, results);
    if (strcmp(results->sysfs, "/sys") != 0)
        json_array_append_new(
            list, json_sprintf("SPIKEMARK_SYSFS: energy meters were looked for in %s, not in /sys",
                               results->sysfs));
    meter_sums_warn(results->meters, list);
    warn_of_failed_readings(list, results->energy);
    warn_of_dry_run(list, model->dry);
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
