#include "record/report.h"

#include "measurement/clock.h"
#include "measurement/simulated.h"
#include "record/provenance.h"
#include "record/warnings.h"
#include <math.h>
#include <string.h>

/// A number, or null where it is unknown.
static json_t *known(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_or_null(uint64_t bytes) {
    return bytes ? json_integer((json_int_t)bytes) : json_null();
}

static double largest(const struct report *report, size_t member) {
    double value = -INFINITY;
    for (int r = 0; r < report->model->ranks; r++)
        value = fmax(value, *(const double *)((const char *)&report->ranks[r] + member));
    return value;
}

static uint64_t total(const struct report *report, size_t member) {
    uint64_t sum = 0;
    for (int r = 0; r < report->model->ranks; r++)
        sum += *(const uint64_t *)((const char *)&report->ranks[r] + member);
    return sum;
}

#define LARGEST(report, member) largest(report, offsetof(struct rank_tally, member))
#define TOTAL(report, member)   total(report, offsetof(struct rank_tally, member))
#define COUNT(report, member)   json_integer((json_int_t)TOTAL(report, member))

static json_t *totals(const struct report *report) {
    return json_pack("{so so so so so so so so}", "neurons", COUNT(report, neurons), "synapses",
                     COUNT(report, synapses), "spikes", COUNT(report, counts.spikes), "synaptic_events",
                     COUNT(report, counts.synaptic_events), "external_events",
                     COUNT(report, counts.external_events), "first_accesses",
                     COUNT(report, counts.first_accesses), "messages", COUNT(report, traffic.messages),
                     "bytes_sent", COUNT(report, traffic.bytes));
}

static json_t *phases(const struct report *report) {
    json_t *all = json_object();
    for (int p = 0; p < n_phases; p++) {
        double sum = 0, most = 0;
        for (int r = 0; r < report->model->ranks; r++) {
            sum += report->ranks[r].phase_s[p];
            most = fmax(most, report->ranks[r].phase_s[p]);
        }
        json_t *phase = json_pack("{so so}", "mean_s", known(sum / report->model->ranks), "max_s",
                                  known(isnan(sum) ? NAN : most));
        if (isnan(sum))
            json_object_set_new(phase, "reason",
                                json_string("record.barrier is false: the waiting is part of exchange"));
        json_object_set_new(all, phase_names[p], phase);
    }
    return all;
}

/// Begin and end of a pause, or null.
static json_t *pause_span(struct interval span) {
    return isnan(span.from_s) ? json_null() : json_pack("[f, f]", span.from_s, span.to_s);
}

/// Share of the simulation that the master thread spent reading counters; NAN where it read none.
static double counter_overhead(const struct report *report, double simulate_s) {
    uint64_t reads = 0;
    for (int p = 0; p < n_counted_phases; p++) reads += report->counters->thread[0]->marks[p];
    return (double)reads * report->counters->read_s / simulate_s;
}

static json_t *timing(const struct report *report) {
    const struct description *d = report->description;
    double simulate_s = LARGEST(report, simulate_s);
    double model_s = 1e-3 * d->given.cycle_ms * d->cycles;
    double overhead = (double)report->measured->clock_reads * report->clock_read_s / simulate_s;
    json_t *all = json_pack("{so so so so sI ss so so so}", "build_s", known(LARGEST(report, build_s)),
                            "simulate_s", known(simulate_s), "model_s", known(model_s), "real_time_factor",
                            known(simulate_s / model_s), "cycles", (json_int_t)d->cycles, "clock",
                            clock_name(), "timer_overhead", known(overhead), "timer_read_s",
                            known(report->clock_read_s), "phases", phases(report));
    json_t *more =
        json_pack("{so so so so so so}", "counter_read_s", known(report->counters->read_s),
                  "counter_overhead", known(counter_overhead(report, simulate_s)), "simulate_started_s",
                  known(report->measured->span.from_s), "simulate_ended_s",
                  known(report->measured->span.to_s), "idle_before_s", pause_span(report->power->idle_before),
                  "idle_after_s", pause_span(report->power->idle_after));
    json_object_update(all, more);
    json_decref(more);
    return all;
}

static json_t *memory(const struct report *report) {
    uint64_t peak = 0, synapses = TOTAL(report, synapses);
    bool all_known = true;
    for (int r = 0; r < report->model->ranks; r++) {
        peak += report->ranks[r].peak_bytes;
        all_known = all_known && report->ranks[r].peak_bytes > 0;
    }
    json_t *parts = json_object();
    for (int i = 0; i < build_parts; i++) {
        uint64_t bytes = 0;
        for (int r = 0; r < report->model->ranks; r++) bytes += report->ranks[r].part_bytes[i];
        json_object_set_new(parts, build_part_names[i], json_integer((json_int_t)bytes));
    }
    json_object_set_new(parts, "log", COUNT(report, log_bytes));
    if (!all_known) peak = 0;
    return json_pack("{so so so}", "peak_bytes", count_or_null(peak), "bytes_per_synapse",
                     known(peak && synapses ? (double)peak / (double)synapses : NAN), "parts", parts);
}

/// The exchange of a lane: its name, or an object where it is composed of others.
static json_t *exchange(const struct lane_plan *plan) {
    const struct exchange_spec *spec = &plan->exchange;
    if (!spec->backend->composed) return json_null();
    return json_pack("{ss ss si}", "inner", spec->inner->name, "outer", spec->outer->name, "group",
                     spec->group);
}

static json_t *lane(const struct report *report, int l) {
    const struct description *d = report->description;
    const struct lane_plan *plan = report->model->lanes[l].plan;
    struct lane_tally sum = {0};
    for (int r = 0; r < report->model->ranks; r++) {
        const struct lane_tally *own = &report->ranks[r].lanes[l];
        sum.synapses += own->synapses;
        sum.messages += own->messages;
        sum.bytes += own->bytes;
        sum.spikes += own->spikes;
        sum.connections = own->connections > sum.connections ? own->connections : sum.connections;
        sum.windows = own->windows > sum.windows ? own->windows : sum.windows;
    }
    double h = d->given.resolution_ms, shortest = plan->shortest_delay ? plan->shortest_delay * h : NAN;
    double window = (double)plan->period * (plan->lag + 1) * d->steps_per_cycle * h;
    return json_pack("{ss sI sI ss so ss si si so so sI sI sI sI sI sI}", "name", plan->name, "period",
                     (json_int_t)plan->period, "lag", (json_int_t)plan->lag, "exchange",
                     plan->exchange.backend->name, "composed", exchange(plan), "wire", plan->wire->name,
                     "ranks", plan->groups.largest, "groups", plan->groups.groups, "slack",
                     known(nearbyint((shortest - window) * 1e9) / 1e9), "shortest_delay_ms", known(shortest),
                     "synapses", (json_int_t)sum.synapses, "windows", (json_int_t)sum.windows, "messages",
                     (json_int_t)sum.messages, "bytes_sent", (json_int_t)sum.bytes, "spikes_sent",
                     (json_int_t)sum.spikes, "connections", (json_int_t)sum.connections);
}

static json_t *lanes(const struct report *report) {
    json_t *list = json_array();
    for (int l = 0; l < report->model->n_lanes; l++) json_array_append_new(list, lane(report, l));
    return list;
}

static json_t *provenance(const struct report *report) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    json_t *commit = *provenance_commit ? json_string(provenance_commit) : json_null();
    json_t *dirty = provenance_dirty < 0 ? json_null() : json_boolean(provenance_dirty);
    return json_pack("{so so ss ss ss ss ss}", "commit", commit, "dirty", dirty, "compiler",
                     provenance_compiler, "flags", provenance_flags, "mpi_library", library, "version",
                     provenance_version, "started", report->started);
}

/// A list like "0-3,8" as numbers.
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

static json_t *host(const struct report *report) {
    const struct host *h = report->host;
    json_t *binding = json_array();
    int nodes = 0;
    for (int r = 0; r < report->model->ranks; r++) {
        json_array_append_new(binding, numbers(report->ranks[r].binding));
        nodes += report->ranks[r].node == r;
    }
    json_t *caches = json_pack("{so so so}", "L1d", count_or_null(h->l1d_bytes), "L2",
                               count_or_null(h->l2_bytes), "L3", count_or_null(h->l3_bytes));
    return json_pack("{ss ss ss so so so so so sb si so so}", "name", h->name, "system", h->system, "cpu",
                     h->cpu, "cores", count_or_null((uint64_t)h->cores), "threads_per_core",
                     count_or_null((uint64_t)h->threads_per_core), "sockets",
                     count_or_null((uint64_t)h->sockets), "memory_bytes", count_or_null(h->memory_bytes),
                     "cache_bytes", caches, "virtual_machine", h->virtual_machine, "nodes", nodes,
                     "foreign_load", known(foreign_load(report)), "binding", binding);
}

static json_t *checksum(const struct report *report, bool with_state) {
    uint64_t sum = TOTAL(report, counts.checksum) + (with_state ? TOTAL(report, state_checksum) : 0);
    return json_sprintf("%016llx", (unsigned long long)sum);
}

static json_t *meters_of(const struct report *report) {
    json_t *list = json_array();
    meters_append(report->meters, list);
    power_append(report->energy, list);
    return list;
}

static json_t *record(const struct report *report) {
    json_t *names = json_array();
    for (int p = 0; p < n_phases; p++) json_array_append_new(names, json_string(phase_names[p]));
    const struct description *d = report->description;
    const struct interval span = report->measured->span;
    json_t *energy_reason, *energy = power_json(report->energy, d->given.record_energy != 0,
                                                span.to_s - span.from_s, d->idle_pause_s > 0, &energy_reason);
    return json_pack("{si ss ss so so sO so so so si si so so so so so so so so}", "format_version", 1,
                     "status", "complete", "kind", time_is_simulated ? "simulated" : "measured", "checksum",
                     checksum(report, true), "spike_checksum", checksum(report, false), "description",
                     report->description->json.object, "provenance", provenance(report), "host", host(report),
                     "warnings", warnings(report), "ranks", report->model->ranks, "threads",
                     report->model->threads, "totals", totals(report), "timing", timing(report), "memory",
                     memory(report), "lanes", lanes(report), "phases", names, "meters", meters_of(report),
                     "energy", energy, "energy_reason", energy_reason);
}

static bool write_ranks(const struct report *report, FILE *file) {
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s\n");
    for (int r = 0; r < report->model->ranks; r++) {
        const struct rank_tally *t = &report->ranks[r];
        const uint64_t counts[] = {t->neurons,
                                   t->synapses,
                                   t->counts.spikes,
                                   t->counts.synaptic_events,
                                   t->counts.external_events,
                                   t->counts.first_accesses,
                                   t->traffic.messages,
                                   t->traffic.bytes};
        fprintf(file, "%d", r);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            fprintf(file, ",%llu", (unsigned long long)counts[i]);
        if (t->peak_bytes)
            fprintf(file, ",%llu", (unsigned long long)t->peak_bytes);
        else
            fprintf(file, ",");
        fprintf(file, ",%.9g,%.9g\n", t->build_s, t->simulate_s);
    }
    return !ferror(file);
}

/// What reading energy meters found and cost.
static void energy_summary(const struct report *report) {
    if (report->description->given.record_energy == 0) return;
    const struct power_record *energy = report->energy;
    double cost = 0;
    for (int n = 0; n < energy->nodes; n++) cost = fmax(cost, energy->node[n].cost);
    if (power_record_any(energy))
        printf("energy: %zu readings in all; reading them took %.2g %% of a processor\n", energy->count,
               100 * cost);
    else
        printf("energy: no meter could be read; energy_reason in record.json says why\n");
}

void report_summary(const struct report *report, const struct run_directory *directory) {
    double simulate_s = LARGEST(report, simulate_s);
    double model_s = 1e-3 * report->description->given.cycle_ms * report->description->cycles;
    printf("%s%s: %d x %d, real-time factor %.3g (%.3g s for %.3g s), %llu spikes, %llu synaptic events, "
           "checksum "
           "%016llx\n",
           directory->path, directory->replaces ? " (replaced an earlier record)" : "", report->model->ranks,
           report->model->threads, simulate_s / model_s, simulate_s, model_s,
           (unsigned long long)TOTAL(report, counts.spikes),
           (unsigned long long)TOTAL(report, counts.synaptic_events),
           (unsigned long long)(TOTAL(report, counts.checksum) + TOTAL(report, state_checksum)));
    if (report->counters->by_phase)
        printf("counters: reading them took %.2g %% of the time (%.2g us each)\n",
               100 * counter_overhead(report, simulate_s), 1e6 * report->counters->read_s);
    energy_summary(report);
    warnings_print(report);
}

bool report_write(const struct report *report, const struct run_directory *directory, struct error *error) {
    FILE *file = run_directory_file(directory, "ranks.csv", error);
    if (!file || !run_directory_close_file("ranks.csv", file, write_ranks(report, file), error)) return false;
    file = run_directory_file(directory, "record.json", error);
    if (!file) return false;
    json_t *json = record(report);
    bool written = json && json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                   fputc('\n', file) != EOF;
    json_decref(json);
    return run_directory_close_file("record.json", file, written, error);
}
