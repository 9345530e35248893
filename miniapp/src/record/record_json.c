#include "record/record_json.h"

#include "base/json_number.h"
#include "measurement/clock.h"
#include "measurement/simulated.h"
#include "measurement/waiting.h"
#include "record/provenance.h"
#include "record/warnings.h"
#include "schedule/lane_json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(results, member) json_integer((json_int_t)RESULTS_SUM(results, member))

static json_t *count_or_null(uint64_t bytes) {
    return bytes ? json_integer((json_int_t)bytes) : json_null();
}

/// Returns a count of what is exchanged, or null in a dry run, where nothing is.
static json_t *exchanged(const struct results *results, uint64_t count) {
    return results->model->dry ? json_null() : json_integer((json_int_t)count);
}

static json_t *totals(const struct results *results) {
    return json_pack("{so so so so so so so so so}", "neurons", COUNT(results, neurons), "synapses",
                     COUNT(results, synapses), "spikes", COUNT(results, counts.spikes), "synaptic_events",
                     COUNT(results, counts.synaptic_events), "external_events",
                     COUNT(results, counts.external_events), "first_accesses",
                     COUNT(results, counts.first_accesses), "lookups", COUNT(results, counts.lookups),
                     "messages", exchanged(results, RESULTS_SUM(results, traffic.messages)), "bytes_sent",
                     exchanged(results, RESULTS_SUM(results, traffic.bytes)));
}

static json_t *phases(const struct results *results) {
    json_t *all = json_object();
    for (int p = 0; p < n_phases; p++) {
        double sum = 0, most = 0;
        for (int r = 0; r < results->model->processes; r++) {
            sum += results->ranks[r].phase_s[p];
            most = fmax(most, results->ranks[r].phase_s[p]);
        }
        json_t *phase = json_pack("{so so}", "mean_s", known(sum / results->model->processes), "max_s",
                                  known(isnan(sum) ? NAN : most));
        if (isnan(sum))
            json_object_set_new(
                phase, "reason",
                json_string(results->model->dry
                                ? "dry run: there is nobody to wait for or to exchange with"
                                : "record.barrier is false: the waiting is part of exchange"));
        json_object_set_new(all, phase_names[p], phase);
    }
    return all;
}

/// Returns the begin and end of a pause since the epoch, or null.
static json_t *pause_span(struct interval span, double ahead_s) {
    return isnan(span.from_s + ahead_s) ? json_null()
                                        : json_pack("[f, f]", span.from_s + ahead_s, span.to_s + ahead_s);
}

static json_t *timing(const struct results *results) {
    const struct description *d = results->description;
    const double simulate_s = RESULTS_LARGEST(results, simulate_s);
    const double run_s = results->model->dry ? NAN : simulate_s; // in a dry run it says nothing
    double model_s = 1e-3 * d->given.cycle_ms * d->cycles;
    double overhead = (double)results->measured->clock_reads * results->clock_read_s / simulate_s;
    json_t *all = json_pack("{so so so so sI ss so so so}", "build_s",
                            known(RESULTS_LARGEST(results, build_s)), "simulate_s", known(run_s), "model_s",
                            known(model_s), "real_time_factor", known(run_s / model_s), "cycles",
                            (json_int_t)d->cycles, "clock", clock_name(), "timer_overhead", known(overhead),
                            "timer_read_s", known(results->clock_read_s), "phases", phases(results));
    json_t *more = json_pack("{so so so so so so so}", "counter_read_s", known(results->counters->read_s),
                             "counter_overhead", known(results_counter_overhead(results, simulate_s)),
                             "simulate_started_s", known(results->measured->span.from_s + results->ahead_s),
                             "simulate_ended_s", known(results->measured->span.to_s + results->ahead_s),
                             "idle_before_s", pause_span(results->reader->idle_before, results->ahead_s),
                             "idle_after_s", pause_span(results->reader->idle_after, results->ahead_s),
                             "clock_step_s", known(results->step_s));
    json_object_update(all, more);
    json_decref(more);
    return all;
}

static json_t *memory(const struct results *results) {
    uint64_t peak = 0, synapses = RESULTS_SUM(results, synapses);
    bool all_known = true;
    for (int r = 0; r < results->model->processes; r++) {
        peak += results->ranks[r].peak_bytes;
        all_known = all_known && results->ranks[r].peak_bytes > 0;
    }
    json_t *parts = json_object();
    for (int i = 0; i < build_parts; i++) {
        uint64_t bytes = 0;
        for (int r = 0; r < results->model->processes; r++) bytes += results->ranks[r].part_bytes[i];
        json_object_set_new(parts, build_part_names[i], json_integer((json_int_t)bytes));
    }
    json_object_set_new(parts, "log", COUNT(results, log_bytes));
    if (!all_known) peak = 0;
    return json_pack("{so so so}", "peak_bytes", count_or_null(peak), "bytes_per_synapse",
                     known(peak && synapses ? (double)peak / (double)synapses : NAN), "parts", parts);
}

/// Returns what all ranks have sent in each level of a lane, and the most connections of any; null where its
/// exchange is not composed.
static json_t *levels_of(const struct results *results, int l) {
    const int levels = results->model->lanes[l].plan->exchange.levels.n;
    json_t *list = levels ? json_array() : json_null();
    for (int i = 0; i < levels; i++) {
        struct level_traffic sum = {0};
        for (int r = 0; r < results->model->processes; r++) {
            const struct level_traffic *own = &results->ranks[r].lanes[l].levels[i];
            sum.connections = own->connections > sum.connections ? own->connections : sum.connections;
            sum.messages += own->messages;
            sum.words += own->words;
            sum.bytes += own->bytes;
        }
        json_array_append_new(
            list, json_pack("{so so so so}", "connections", exchanged(results, sum.connections), "messages",
                            exchanged(results, sum.messages), "words", exchanged(results, sum.words),
                            "bytes_sent", exchanged(results, sum.bytes)));
    }
    return list;
}

static json_t *lane(const struct results *results, int l) {
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

static json_t *lanes(const struct results *results) {
    json_t *list = json_array();
    for (int l = 0; l < results->model->n_lanes; l++) json_array_append_new(list, lane(results, l));
    return list;
}

static json_t *provenance(const struct results *results) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    json_t *commit = *provenance_commit ? json_string(provenance_commit) : json_null();
    json_t *dirty = provenance_dirty < 0 ? json_null() : json_boolean(provenance_dirty);
    return json_pack("{so so ss ss ss ss ss}", "commit", commit, "dirty", dirty, "compiler",
                     provenance_compiler, "flags", provenance_flags, "mpi_library", library, "version",
                     provenance_version, "started", results->started);
}

/// Turns a list like "0-3,8" into numbers.
static json_t *numbers(const char *list) {
    json_t *all = json_array();
    int first, last, read;
    while (sscanf(list, "%d%n", &first, &read) == 1) {
        list += read;
        last = first;
        if (sscanf(list, "-%d%n", &last, &read) == 1) list += read;
        for (int i = first; i <= last; i++) json_array_append_new(all, json_integer(i));
        list += *list == ',';
    }
    return all;
}

/// Says how the first rank waits, by its environment; null in simulated time.
static json_t *waiting(void) {
    const struct waiting found = waiting_read();
    if (time_is_simulated) return json_null();
    json_t *variables = json_object();
    for (int i = 0; i < waiting_variables; i++)
        if (getenv(waiting_variable[i].name))
            json_object_set_new(variables, waiting_variable[i].name,
                                json_string(getenv(waiting_variable[i].name)));
    return json_pack("{sb ss? so}", "passive", found.passive, "chosen_by", found.chosen_by, "variables",
                     variables);
}

static json_t *host(const struct results *results) {
    const struct host *h = results->host;
    json_t *binding = json_array();
    for (int r = 0; r < results->model->processes; r++)
        json_array_append_new(binding, numbers(results->ranks[r].binding));
    json_t *caches = json_pack("{so so so}", "L1d", count_or_null(h->l1d_bytes), "L2",
                               count_or_null(h->l2_bytes), "L3", count_or_null(h->l3_bytes));
    return json_pack("{ss ss ss so so so so so sb si so so so so so}", "name", h->name, "system", h->system,
                     "cpu", h->cpu, "cores", count_or_null((uint64_t)h->cores), "threads_per_core",
                     count_or_null((uint64_t)h->threads_per_core), "sockets",
                     count_or_null((uint64_t)h->sockets), "memory_bytes", count_or_null(h->memory_bytes),
                     "cache_bytes", caches, "virtual_machine", h->virtual_machine, "nodes",
                     results->nodes->count, "node_names", nodes_names(results->nodes), "per_node",
                     nodes_json(results->nodes), "foreign_load", known(foreign_load(results)), "binding",
                     binding, "waiting", waiting());
}

/// Returns null in a dry run, where the other ranks' parts are missing.
static json_t *checksum(const struct results *results, bool with_state) {
    if (results->model->dry) return json_null();
    uint64_t sum =
        RESULTS_SUM(results, counts.checksum) + (with_state ? RESULTS_SUM(results, state_checksum) : 0);
    return json_sprintf("%016llx", (unsigned long long)sum);
}

static json_t *meters_of(const struct results *results) {
    json_t *list = json_array();
    meter_sums_append(results->meters, list);
    energy_record_append(results->energy, list);
    return list;
}

/// Nodes are named by their lowest rank there, as in kernel.csv.
static json_t *kernel(const struct results *results) {
    json_t *node_of_rank = json_array();
    const int *of_rank = results->nodes->of_rank;
    for (int r = 0; r < results->model->processes; r++) {
        int lowest = 0;
        while (of_rank[lowest] != of_rank[r]) lowest++;
        json_array_append_new(node_of_rank, json_integer(lowest));
    }
    return kernel_record_json(results->kernel, results->kernel_reader, node_of_rank);
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
                     known(dry->routes_s), "prepare_s", known(dry->prepare_s), "inbox_s", known(dry->inbox_s),
                     "words", (json_int_t)dry->words);
}

/// Says where the neurons were, by name and, if a file says it, by the file and the method that made it.
static json_t *placement(const struct results *results) {
    const struct placement *used = results->model->placement;
    const char *method = json_string_value(json_object_get(results->placement_file, "method"));
    return json_pack("{ss ss? ss? sf}", "name", used->rule->name, "file",
                     results->description->placement_file, "method", method, "balance",
                     placement_balance(used));
}

static json_t *record(const struct results *results) {
    json_t *names = json_array();
    for (int p = 0; p < n_phases; p++) json_array_append_new(names, json_string(phase_names[p]));
    const struct description *d = results->description;
    const struct interval span = results->measured->span;
    json_t *energy_reason,
        *energy = energy_record_json(results->energy, d->given.record_energy != 0, span.to_s - span.from_s,
                                     d->idle_pause_s > 0, &energy_reason);
    const char *kind = results->model->dry ? "dry_run" : time_is_simulated ? "simulated" : "measured";
    return json_pack("{si ss ss so so so sO so so so si si so so so so so so so so so so}", "format_version",
                     record_format_version, "status", "complete", "kind", kind, "dry_run", dry_run(results),
                     "checksum", checksum(results, true), "spike_checksum", checksum(results, false),
                     "description", results->description->json.object, "provenance", provenance(results),
                     "host", host(results), "warnings", warnings(results), "ranks", results->model->ranks,
                     "threads", results->model->threads, "placement", placement(results), "totals",
                     totals(results), "timing", timing(results), "memory", memory(results), "lanes",
                     lanes(results), "phases", names, "meters", meters_of(results), "energy", energy,
                     "energy_reason", energy_reason, "kernel", kernel(results));
}

bool record_json_write(const struct results *results, FILE *file) {
    json_t *json = record(results);
    const bool written = json && json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                         fputc('\n', file) != EOF;
    json_decref(json);
    return written;
}
