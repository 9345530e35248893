#include "bench_exchange_report.h"

#include "measurement/clock.h"
#include "measurement/host.h"
#include "record/provenance.h"
#include "transport/exchange_check.h"
#include <jansson.h>

static json_t *mpi_library(void) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    for (char *c = library; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return json_string(library);
}

static json_t *provenance(const struct bench_results *results) {
    json_t *commit = *provenance_commit ? json_string(provenance_commit) : json_null();
    json_t *dirty = provenance_dirty < 0 ? json_null() : json_boolean(provenance_dirty);
    return json_pack("{so so ss ss so ss ss}", "commit", commit, "dirty", dirty, "compiler",
                     provenance_compiler, "flags", provenance_flags, "mpi_library", mpi_library(), "version",
                     provenance_version, "started", results->started);
}

static json_t *machine(void) {
    struct host host;
    host_read(&host);
    return json_pack("{ss ss ss si sb}", "name", host.name, "system", host.system, "cpu", host.cpu, "cores",
                     host.cores, "virtual_machine", host.virtual_machine);
}

/// Returns the seconds that one clock_now() takes, as a mean over many.
static double clock_read_s(void) {
    enum { reads = 10000 };
    volatile double last = 0;
    const double start = clock_now();
    for (int i = 0; i < reads; i++) last = clock_now();
    return (last - start) / reads;
}

static json_t *skipped(const struct bench_results *results) {
    json_t *list = json_array();
    for (size_t i = 0; i < results->n_skipped; i++)
        json_array_append_new(list, json_pack("{ss ss}", "exchange", results->skipped[i].backend->name,
                                              "reason", results->skipped[i].reason));
    return list;
}

static json_t *name_or_null(const struct exchange_backend *backend) {
    return backend ? json_string(backend->name) : json_null();
}

static json_t *cases(const struct bench_results *results) {
    json_t *list = json_array();
    for (size_t i = 0; i < results->n_cases; i++) {
        const struct bench_case *c = &results->cases[i];
        const struct exchange_spec spec = exchange_plain(c->backend);
        const struct levels levels = levels_resolve(&spec.levels, results->ranks);
        json_array_append_new(list, json_pack("{ss so so si si ss si sf}", "exchange", c->backend->name,
                                              "inner", name_or_null(levels.part[0]), "outer",
                                              name_or_null(levels.part[1]), "group", levels.size[0], "bytes",
                                              (int)c->bytes, "targets", c->targets->name, "partners",
                                              bench_case_partners(c, results->ranks, results->options->seed),
                                              "skew_us", c->skew_us));
    }
    return list;
}

static json_t *measurements(const struct bench_results *results) {
    json_t *list = json_array();
    for (size_t i = 0; i < results->n_measurements; i++) {
        const struct bench_measurement *m = &results->measurements[i];
        json_array_append_new(
            list, json_pack("{sI si si sf sf sf}", "case", (json_int_t)m->number, "repetition", m->repetition,
                            "rounds", (int)m->times.rounds, "barrier_s", m->times.barrier_s, "exchange_s",
                            m->times.exchange_s, "exchange_mean_s", m->times.exchange_mean_s));
    }
    return list;
}

bool bench_report(const struct bench_results *results, FILE *file) {
    const struct bench_options *options = results->options;
    json_t *root = json_pack(
        "{ss si so so sf si si sb si sf sI so so so}", "kind", "exchange times", "format_version", 1,
        "provenance", provenance(results), "host", machine(), "clock_read_s", clock_read_s(), "ranks",
        results->ranks, "nodes", results->nodes, "oversubscribed", results->oversubscribed, "repetitions",
        options->repetitions, "min_time_s", options->min_time_s, "seed", (json_int_t)options->seed, "skipped",
        skipped(results), "cases", cases(results), "measurements", measurements(results));
    const bool written = root && json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
                         fputc('\n', file) != EOF && fflush(file) == 0 && !ferror(file);
    json_decref(root);
    return written;
}
