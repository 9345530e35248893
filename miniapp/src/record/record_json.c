/// \file
/// Makes record.json from gathered results, a function for each of its parts. What is unknown becomes
/// null, with a reason beside it.
///
/// record_json_write() at the end has the whole object; each part of it is a function above, of the same name
/// as its field. miniapp/FORMAT.md says what each field means; a change of what is there goes into both, and
/// where it could mislead a reader of older records, into format_version. Only rank 0 comes here; everything
/// has been gathered (tally.c, nodes.c, meters.c). Sums over ranks are made by RESULTS_SUM().
///
/// In a dry run there is one process, which is one rank of many: counts of messages and the checksum are
/// null.

#include "record/record_json.h"

#include "description/known.h"
#include "measurement/clock.h"
#include "measurement/platform.h"
#include "record/provenance.h"
#include "record/surroundings.h"
#include "schedule/lane_json.h"
#include <math.h>
#include <strings.h>

#define COUNT(results, member) json_integer((json_int_t)RESULTS_SUM(results, member))

/// Returns a count of what is exchanged, or null in a dry run, where nothing is.
static json_t *exchanged(const struct results *results, uint64_t count) {
    return results->model->dry ? json_null() : json_integer((json_int_t)count);
}

/// Returns counts over all ranks and the whole measured part.
static json_t *totals(const struct results *results) {
    return json_pack("{so so so so so so so so so}", "neurons", COUNT(results, neurons), "synapses",
                     COUNT(results, synapses), "spikes", COUNT(results, counts.spikes), "synaptic_events",
                     COUNT(results, counts.synaptic_events), "external_events",
                     COUNT(results, counts.external_events), "first_accesses",
                     COUNT(results, counts.first_accesses), "lookups", COUNT(results, counts.lookups),
                     "messages", exchanged(results, RESULTS_SUM(results, traffic.messages)), "bytes_sent",
                     exchanged(results, RESULTS_SUM(results, traffic.bytes)));
}

/// Returns the time of each phase, the mean over ranks and the largest.
static json_t *phases(const struct results *results) {
    json_t *all = json_object();
    for (int p = 0; p < n_phases; p++) {
        // NAN, of a phase that was not measured, makes the sum NAN.
        double sum = 0, most = 0;
        for (int r = 0; r < results->model->processes; r++) {
            sum += results->ranks[r].phase_s[p];
            most = fmax(most, results->ranks[r].phase_s[p]);
        }
        const char *reason = results->model->dry ? "dry run: there is nobody to wait for or to exchange with"
                                                 : "record.barrier is false: the waiting is part of exchange";
        json_t *phase = json_pack("{so so ss*}", "mean_s", known(sum / results->model->processes), "max_s",
                                  known(isnan(sum) ? NAN : most), "reason", isnan(sum) ? reason : NULL);
        json_object_set_new(all, phase_names[p], phase);
    }
    return all;
}

/// Returns the times of the run, what measuring them cost, and when it ran.
static json_t *timing(const struct results *results) {
    const struct description *d = results->description;
    const double simulate_s = RESULTS_LARGEST(results, simulate_s);
    const double run_s = results->model->dry ? NAN : simulate_s; // in a dry run it says nothing
    double model_s = 1e-3 * d->given.cycle_ms * d->cycles;
    // Readings of the master thread x what one takes, as a share of the run.
    double overhead = (double)results->measured->clock_reads * results->clock_read_s / simulate_s;
    return json_pack("{so so so so sI sI ss so so so so so so so sn so}", "build_s",
                     known(RESULTS_LARGEST(results, build_s)), "simulate_s", known(run_s), "model_s",
                     known(model_s), "real_time_factor", known(run_s / model_s), "cycles",
                     (json_int_t)d->cycles, "stretch_cycles", (json_int_t)results->measured->activity.cycles,
                     "clock", clock_name(), "timer_overhead", known(overhead), "timer_read_s",
                     known(results->clock_read_s), "phases", phases(results), "counter_read_s",
                     known(results->counters->read_s), "counter_overhead",
                     known(results_counter_overhead(results, simulate_s)), "simulate_started_s",
                     known(results->measured->from_s + results->ahead_s), "simulate_ended_s",
                     known(results->measured->to_s + results->ahead_s), "idle_before_s", "clock_step_s",
                     known(results->step_s));
}

/// Returns the bytes of all ranks together: what the system says, and what each part of the model takes.
static json_t *memory(const struct results *results) {
    // If one rank does not know its peak, the sum is unknown.
    uint64_t peak = 0, synapses = RESULTS_SUM(results, synapses);
    bool all_known = true;
    for (int r = 0; r < results->model->processes; r++) {
        peak += results->ranks[r].peak_bytes;
        all_known = all_known && results->ranks[r].peak_bytes > 0;
    }
    json_t *parts = json_object();
    for (int i = 0; i < memory_kinds; i++) {
        uint64_t bytes = 0;
        for (int r = 0; r < results->model->processes; r++) bytes += results->ranks[r].memory_bytes[i];
        json_object_set_new(parts, memory_kind_names[i], json_integer((json_int_t)bytes));
    }
    json_object_set_new(parts, "log", COUNT(results, log_bytes));
    if (!all_known) peak = 0;
    return json_pack("{so so so}", "peak_bytes", known_count(peak), "bytes_per_synapse",
                     known(peak && synapses ? (double)peak / (double)synapses : NAN), "parts", parts);
}

/// Returns what all ranks have sent in each level of a lane, and the most connections of any; null where its
/// exchange is not composed.
static json_t *levels_of(const struct results *results, int l) {
    const int levels = results->model->lanes[l].plan->exchange.levels.n;
    json_t *list = levels ? json_array() : json_null();
    for (int i = 0; i < levels; i++) {
        struct level_traffic sum = {0};
        for (int r = 0; r < results->model->processes; r++)
            level_traffic_add(&sum, &results->ranks[r].lanes[l].levels[i]);
        json_array_append_new(
            list, json_pack("{so so so so}", "connections", exchanged(results, sum.connections), "messages",
                            exchanged(results, sum.messages), "words", exchanged(results, sum.words),
                            "bytes_sent", exchanged(results, sum.bytes)));
    }
    return list;
}

/// Returns what is known of a lane: its plan, and what all ranks counted in it.
static json_t *lane(const struct results *results, int l) {
    // Counts add up; connections and windows are the largest of any rank.
    struct lane_tally sum = {0};
    for (int r = 0; r < results->model->processes; r++) {
        const struct lane_tally *own = &results->ranks[r].lanes[l];
        sum.synapses += own->synapses;
        sum.messages += own->messages;
        sum.bytes += own->bytes;
        sum.spikes += own->spikes;
        sum.connections = own->connections > sum.connections ? own->connections : sum.connections;
        sum.windows = own->windows > sum.windows ? own->windows : sum.windows;
    }
    json_t *all = lane_json(results->model->lanes[l].plan, results->description);
    json_t *counts =
        json_pack("{sI sI so so sI so so}", "synapses", (json_int_t)sum.synapses, "windows",
                  (json_int_t)sum.windows, "messages", exchanged(results, sum.messages), "bytes_sent",
                  exchanged(results, sum.bytes), "spikes_sent", (json_int_t)sum.spikes, "connections",
                  exchanged(results, sum.connections), "levels", levels_of(results, l));
    json_object_update(all, counts);
    json_decref(counts);
    return all;
}

/// Says how the first rank waits, by the environment variables that OpenMP and MPI libraries read when they
/// are loaded; null in simulated time.
static json_t *waiting(void) {
    static const char *const names[] = {"OMP_WAIT_POLICY", "OMPI_MCA_mpi_yield_when_idle",
                                        "MPIR_CVAR_POLLS_BEFORE_YIELD", "I_MPI_WAIT_MODE",
                                        "I_MPI_THREAD_YIELD"};
    if (!platform.has_hosts) return json_null();
    json_t *variables = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) json_object_set_new(variables, names[i], json_string(getenv(names[i])));
    // `spikemark` leaves a mark where it has set the variables itself.
    const char *policy = getenv(names[0]), *mark = getenv("SPIKEMARK_WAITING");
    const char *chosen_by = mark ? mark : json_object_size(variables) > 0 ? "environment" : NULL;
    return json_pack("{sb ss? so}", "passive", policy && strcasecmp(policy, "passive") == 0, "chosen_by",
                     chosen_by, "variables", variables);
}

/// Returns how many processors of the first rank's node were busy with something else during the measured
/// part, as a mean; NAN where this is unknown or the time was too short to tell.
static double foreign_load(const struct results *results) {
    const struct rank_tally *first = &results->ranks[0];
    const double shortest_s = 0.2; // the system counts in ticks of 10 ms
    if (!(first->simulate_s >= shortest_s) || isnan(first->node_busy_s)) return NAN;
    double own_s = 0;
    for (int r = 0; r < results->model->processes; r++)
        if (results->nodes->of_rank[r] == 0) own_s += results->ranks[r].process_s;
    return fmax(0, first->node_busy_s - own_s) / first->simulate_s;
}

/// Returns how many cores quotas took away from the ranks during the measured part, as a mean: of the ranks,
/// which may share their control groups, the most. NAN where any rank does not know.
static double throttled_load(const struct results *results) {
    double most = 0;
    for (int r = 0; r < results->model->processes; r++) {
        const double throttled_s = results->ranks[r].throttled_s;
        if (isnan(throttled_s)) return NAN;
        most = fmax(most, throttled_s / results->ranks[r].simulate_s);
    }
    return most;
}

/// Returns why throttled_load() is unknown; NULL where it is known.
static const char *throttled_reason(const struct results *results) {
    if (!isnan(throttled_load(results))) return NULL;
    if (!platform.has_hosts) return "time is simulated";
    const char *reason = results->host->quota.reason;
    return *reason ? reason : "a rank on another node cannot read its control groups";
}

/// Returns what is known of the machine, and of what else it was doing.
static json_t *host(const struct results *results) {
    const struct host *h = results->host;
    json_t *node_of_rank = json_array(), *node_names = json_array();
    for (int n = 0; n < results->nodes->count; n++)
        json_array_append_new(node_names, json_string(results->nodes->node[n].host.name));
    for (int r = 0; r < results->model->processes; r++)
        json_array_append_new(node_of_rank, json_integer(results->nodes->of_rank[r]));
    json_t *caches = json_pack("{so so so}", "L1d", known_count(h->l1d_bytes), "L2", known_count(h->l2_bytes),
                               "L3", known_count(h->l3_bytes));
    return json_pack("{ss ss ss so so so so so sb si so so so so so ss* sO sO so so so}", "name", h->name,
                     "system", h->system, "cpu", h->cpu, "cores", known_count((uint64_t)h->cores),
                     "threads_per_core", known_count((uint64_t)h->threads_per_core), "sockets",
                     known_count((uint64_t)h->sockets), "memory_bytes", known_count(h->memory_bytes),
                     "cache_bytes", caches, "virtual_machine", h->virtual_machine, "nodes",
                     results->nodes->count, "node_names", node_names, "per_node", nodes_json(results->nodes),
                     "foreign_load", known(foreign_load(results)), "stolen_load",
                     known(results->ranks[0].node_stolen_s / results->ranks[0].simulate_s), "throttled_load",
                     known(throttled_load(results)), "throttled_reason", throttled_reason(results), "binding",
                     results->binding, "usable_cores", results->usable_cores, "node_of_rank", node_of_rank,
                     "waiting", waiting(), "surroundings", surroundings_json());
}

/// Returns null in a dry run, where the other ranks' parts are missing.
static json_t *checksum(const struct results *results, bool with_state) {
    if (results->model->dry) return json_null();
    uint64_t sum =
        RESULTS_SUM(results, counts.checksum) + (with_state ? RESULTS_SUM(results, state_checksum) : 0);
    return json_sprintf("%016llx", (unsigned long long)sum);
}

/// Returns what was made up, and what that took; null but in a dry run.
static json_t *dry_run(const struct results *results) {
    const struct dry *dry = results->model->dry;
    if (!dry) return json_null();
    double compute_s = 0;
    for (int p = phase_deliver; p <= phase_collocate; p++) compute_s += results->measured->log.total[p];
    return json_pack("{si si ss so ss so so so so sI}", "rank", dry->rank, "of", dry->of, "spikes",
                     dry->exact_spikes ? "exact" : "drawn", "rate_hz", known(dry->rate_hz), "routes",
                     dry->exact_routes ? "exact" : "drawn", "compute_s", known(compute_s), "routes_s",
                     known(dry->routes_s), "prepare_s", known(dry->prepare_s), "inbox_s",
                     known(dry->receive_buffer_s), "words", (json_int_t)dry->words);
}

/// Says where the neurons were, by name and, if a file says it, by the file and the method that made it.
static json_t *placement(const struct results *results) {
    const struct placement *used = results->model->placement;
    const char *method = json_string_value(json_object_get(results->placement_file, "method"));
    return json_pack("{ss ss? ss? sf}", "name", used->rule->name, "file",
                     results->description->placement_file, "method", method, "balance",
                     placement_balance(used));
}

bool record_json_write(const struct results *results, FILE *file) {
    json_t *names = json_array(), *lanes = json_array();
    for (int p = 0; p < n_phases; p++) json_array_append_new(names, json_string(phase_names[p]));
    for (int l = 0; l < results->model->n_lanes; l++) json_array_append_new(lanes, lane(results, l));
    // Everything in one object; miniapp/FORMAT.md states the names.
    const char *kind = results->model->dry ? "dry_run" : platform.kind;
    json_t *json = json_pack(
        "{si ss ss so so so sO so so si si so so so so so so sO so ss}", "format_version", 3, "status",
        "complete", "kind", kind, "dry_run", dry_run(results), "checksum", checksum(results, true),
        "spike_checksum", checksum(results, false), "description", results->description->json.object,
        "provenance", provenance_json(results->started), "host", host(results), "ranks",
        results->model->ranks, "threads", results->model->threads, "placement", placement(results), "totals",
        totals(results), "timing", timing(results), "memory", memory(results), "lanes", lanes, "phases",
        names, "meters", results->meters, "energy", json_null(), "energy_reason",
        "`spikemark run` reads the meters of nodes, with record.energy");
    const bool written = json && json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                         fputc('\n', file) != EOF;
    json_decref(json);
    return written;
}
