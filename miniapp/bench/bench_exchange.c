/// \file
/// Times exchanges on their own, between the ranks of mpirun: see bench_options_help.
///
/// Each repetition of each case opens its exchange anew, so that no case finds the buffers of another, and
/// where buffers happen to lie varies between repetitions.

#include "bench_exchange_report.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "measurement/host.h"
#include "transport/agree.h"
#include "transport/exchange_check.h"
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };
enum { order_group = 0xfffffffe }; // of random numbers

/// Finds out how many nodes there are, and whether one of them has more ranks than cores. Collective.
static void read_machine(struct bench_results *results, MPI_Comm world) {
    struct host host;
    MPI_Comm node;
    int rank, own, mates;
    host_read(&host);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &own);
    MPI_Comm_size(node, &mates);
    MPI_Comm_free(&node);
    int first = own == 0, crowded = host.cores > 0 && mates > host.cores;
    MPI_Allreduce(&first, &results->nodes, 1, MPI_INT, MPI_SUM, world);
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, world);
    results->oversubscribed = crowded;
}

/// Says why a back-end cannot be measured here; "" if it can. The answer is the same on all ranks.
/// Collective.
static void why_not(const struct exchange_backend *backend, const struct bench_results *results,
                    MPI_Comm world, char *reason, size_t size) {
    const struct exchange_spec spec = exchange_plain(backend);
    struct error error = {""};
    reason[0] = '\0';
    if (backend->absent)
        snprintf(reason, size, "%s", backend->absent);
    else if (backend->ranks_max && backend->ranks_max < results->ranks)
        snprintf(reason, size, "serves at most %d rank(s)", backend->ranks_max);
    else if (backend->one_node && results->nodes > 1)
        snprintf(reason, size, "serves the ranks of one node only");
    else if (!exchange_check(&spec, world, &error))
        snprintf(reason, size, "%s", error.text);
}

static void add_cases(struct bench_results *results, const struct exchange_backend *backend) {
    const struct bench_options *o = results->options;
    for (size_t t = 0; t < o->n_targets; t++)
        for (size_t s = 0; s < o->n_skews; s++)
            for (size_t b = 0; b < o->n_bytes; b++)
                results->cases[results->n_cases++] =
                    (struct bench_case){backend, o->bytes[b], &o->targets[t], o->skew_us[s]};
}

/// Fills the cases and the back-ends that are skipped. Collective.
static bool choose(struct bench_results *results, MPI_Comm world, struct error *error) {
    const struct bench_options *o = results->options;
    size_t n = 0, matching = 0;
    regex_t pattern;
    if (regcomp(&pattern, o->filter, REG_EXTENDED | REG_NOSUB) != 0)
        return error_set(error, "--filter: \"%s\"; allowed: a regular expression", o->filter);
    while (exchange_backends[n]) n++;
    results->cases = ALLOC(struct bench_case, n * o->n_targets * o->n_skews * o->n_bytes);
    results->skipped = ALLOC(struct bench_skipped, n);
    for (size_t i = 0; i < n; i++) {
        struct bench_skipped *candidate = &results->skipped[results->n_skipped];
        if (regexec(&pattern, exchange_backends[i]->name, 0, NULL, 0) != 0) continue;
        matching++;
        candidate->backend = exchange_backends[i];
        why_not(exchange_backends[i], results, world, candidate->reason, sizeof candidate->reason);
        if (candidate->reason[0])
            results->n_skipped++;
        else
            add_cases(results, exchange_backends[i]);
    }
    regfree(&pattern);
    if (matching == 0)
        return error_set(error, "--filter: \"%s\" matches no exchange; see miniapp --list", o->filter);
    return true;
}

/// Permutes the cases, in another way for each repetition (Fisher and Yates).
static void shuffle(size_t *order, size_t n, uint32_t seed, uint32_t repetition) {
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        struct rng_words drawn = rng_draw(seed, rng_inject, order_group, repetition, (uint32_t)i);
        const size_t j = rng_below(drawn.word[0], drawn.word[1], (uint32_t)i), other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}

/// Measures every repetition of every case. With `talk` it prints a line for each. Collective.
static bool measure(struct bench_results *results, MPI_Comm world, bool talk, struct error *error) {
    const struct bench_options *o = results->options;
    size_t *order = ALLOC(size_t, results->n_cases);
    results->measurements = ALLOC(struct bench_measurement, results->n_cases * (size_t)o->repetitions);
    bool good = true;
    for (int repetition = 0; good && repetition < o->repetitions; repetition++) {
        shuffle(order, results->n_cases, o->seed, (uint32_t)repetition);
        for (size_t i = 0; good && i < results->n_cases; i++) {
            struct bench_measurement *m = &results->measurements[results->n_measurements];
            *m = (struct bench_measurement){.number = order[i], .repetition = repetition};
            const struct bench_case *c = &results->cases[order[i]];
            good = bench_case_time(c, world, o->seed, (uint32_t)results->n_measurements, o->min_time_s,
                                   &m->times, error);
            results->n_measurements += good;
            if (!talk || !good) continue;
            char name[128];
            bench_case_name(c, name, sizeof name);
            printf("%s %.3f us\n", name, 1e6 * m->times.exchange_s);
        }
    }
    free(order);
    return good;
}

static void list(const struct bench_results *results) {
    char name[128];
    for (size_t i = 0; i < results->n_cases; i++) {
        bench_case_name(&results->cases[i], name, sizeof name);
        puts(name);
    }
    for (size_t i = 0; i < results->n_skipped; i++)
        fprintf(stderr, "%s: left out: %s\n", results->skipped[i].backend->name, results->skipped[i].reason);
}

/// \return the exit status.
static int run(struct bench_results *results, MPI_Comm world, bool first, struct error *error) {
    const char *out = results->options->out;
    char beside[4096];
    FILE *file = first ? stdout : NULL;
    if (first && out) {
        snprintf(beside, sizeof beside, "%s.partial", out);
        file = fopen(beside, "w");
        if (!file) error_set(error, "--out: \"%s\"; allowed: a file that can be written", out);
    }
    if (!agree(world, error)) return status_bad_input;
    bool good = measure(results, world, first && out, error);
    if (!first) return good ? status_done : status_failed;
    good = good && (bench_report(results, file) || error_set(error, "the results cannot be written"));
    if (!out) return good ? status_done : status_failed;
    good = fclose(file) == 0 && good && rename(beside, out) == 0;
    if (!good) {
        error_set(error, "%s cannot be written", out);
        remove(beside);
    }
    return good ? status_done : status_failed;
}

int main(int argc, char **argv) {
    int rank, status = status_done;
    struct error error = {""};
    struct bench_options options;
    struct bench_results results = {.options = &options};
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &results.ranks);
    const time_t now = time(NULL);
    strftime(results.started, sizeof results.started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (!bench_options_read(&options, argc, argv, results.ranks, &error)) {
        status = status_bad_input;
    } else if (options.action == bench_help) {
        if (rank == 0) fputs(bench_options_help, stdout);
    } else {
        if (!options.seeded) options.seed = (uint32_t)now;
        MPI_Bcast(&options.seed, 1, MPI_UINT32_T, 0, world);
        read_machine(&results, world);
        if (!choose(&results, world, &error))
            status = status_bad_input;
        else if (options.action == bench_run)
            status = run(&results, world, rank == 0, &error);
        else if (rank == 0)
            list(&results);
    }
    if (rank == 0 && error_stands(&error)) fprintf(stderr, "bench_exchange: %s\n", error.text);
    free(results.cases);
    free(results.skipped);
    free(results.measurements);
    MPI_Finalize();
    return status;
}
