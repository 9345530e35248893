/// \file
/// Times exchanges on their own, between the ranks of mpirun: see bench_options_help.
///
/// Each repetition of each case opens its exchange anew, so that no case finds the buffers of another, and
/// where buffers happen to lie varies between repetitions.

#include "base/rng.h"
#include "measurement/clock.h"
#include "record/provenance.h"
#include "record/record.h"
#include "transport/communicator.h"
#include "transport/exchange_check.h"
#include <math.h>
#include <regex.h>
#include <time.h>

enum { values_most = 64 }; ///< values that an option may list
enum bench_action { bench_run, bench_list, bench_help };
enum { status_done = 0, status_failed = 1, status_bad_input = 2 };

/// Strings are borrowed from the command line.
struct bench_options {
    enum bench_action action;
    const char *filter; ///< regular expression (POSIX, extended) for names of back-ends
    const char *out;    ///< NULL: standard output
    uint32_t bytes[values_most];
    size_t n_bytes;
    double repetitions, min_time_s, seed; ///< seed -1: none was given
};

struct bench_case {
    const struct exchange_backend *backend;
    uint32_t bytes; ///< from each rank to each, itself included
};

/// One repetition of case `number`. In each round all ranks meet at a barrier, and exchange. The time of a
/// round is that of its slowest rank, in seconds.
struct bench_measurement {
    size_t number;
    int repetition;
    uint32_t rounds;
    double barrier_s;  ///< median over the rounds; it includes the wait for the rank that is last
    double exchange_s; ///< start to finish, median over the rounds
};

struct bench_results {
    const struct bench_options *options;
    char started[32]; ///< ISO 8601, UTC
    int ranks, nodes;
    uint32_t seed;
    bool oversubscribed; ///< more ranks than cores on some node
    struct bench_skipped {
        const struct exchange_backend *backend;
        char reason[1024];
    } * skipped;
    size_t n_skipped;
    struct bench_case *cases;
    size_t n_cases;
    struct bench_measurement *measurements; ///< in the order of measuring
    size_t n_measurements;
};

enum { word = 4, most_bytes = 1 << 24, most_words = 1 << 28 };

static const char *const bench_options_help =
    "bench_exchange: measures how long each exchange between the ranks of mpirun takes\n"
    "\n"
    "  mpirun -n R bench_exchange [--filter REGEX] [--bytes LIST] [--repetitions N] [--min-time S]\n"
    "                             [--seed N] [--out FILE]\n"
    "  bench_exchange --list      lists the cases that these options choose, and what is left out\n"
    "\n"
    "  --filter REGEX   only exchanges whose names match (.)\n"
    "  --bytes LIST     bytes from rank to rank (powers of two from 4 to 65536, and five times those)\n"
    "  --repetitions N  repetitions of every case, each in a shuffled order (5)\n"
    "  --min-time S     shortest time of a repetition (0.02)\n"
    "  --seed N         seed of the order (the time of day)\n"
    "  --out FILE       file for the JSON (standard output)\n"
    "\n"
    "miniapp/FORMAT.md states the JSON. Exit status: 0 done, 1 failed, 2 bad input.\n";

/// An option with a number: what it takes, in words, as limits, and as a step of whole numbers.
struct bench_option {
    const char *name, *expected;
    double low, high, step;
    double *number;
};

static bool read_number(const struct bench_option *o, const char *text, double *value, struct error *error) {
    char *end;
    *value = strtod(text, &end);
    return (end != text && *end == '\0' && *value >= o->low && *value <= o->high &&
            (o->step == 0 || fmod(*value, o->step) == 0)) ||
           error_set(error, "%s: \"%s\"; expected %s", o->name, text, o->expected);
}

/// Reads different numbers of bytes between commas.
static bool read_bytes(struct bench_options *options, const struct bench_option *o, const char *text,
                       struct error *error) {
    char *list = alloc_string(text), *rest = list;
    double number;
    options->n_bytes = 0;
    for (char *one; (one = strsep(&rest, ",")) && read_number(o, one, &number, error);) {
        for (size_t i = 0; i < options->n_bytes; i++)
            if (options->bytes[i] == number || i + 1 == values_most)
                error_set(error, "%s: \"%s\"; expected up to %d different numbers", o->name, text,
                          values_most);
        if (error_stands(error)) break;
        options->bytes[options->n_bytes++] = (uint32_t)number;
    }
    free(list);
    return !error_stands(error);
}

/// Reads the command line of `ranks` ranks, which bound the bytes.
static bool bench_options_read(struct bench_options *options, int argc, char **argv, int ranks,
                               struct error *error) {
    const int most = most_words / ranks * word < most_bytes ? most_words / ranks * word : most_bytes;
    const struct bench_option known[] = {
        {"--bytes", "multiples of 4 from 4 to 16777216, less on more than 64 ranks", word, most, word, NULL},
        {"--repetitions", "an integer from 1 to 10000", 1, 1e4, 1, &options->repetitions},
        {"--seed", "an integer from 0 to 4294967295", 0, UINT32_MAX, 1, &options->seed},
        {"--min-time", "seconds from 0.000001 to 10000", 1e-6, 1e4, 0, &options->min_time_s},
        {.name = "--filter"},
        {.name = "--out"},
    };
    enum { n_known = sizeof known / sizeof *known };
    *options = (struct bench_options){.filter = ".", .repetitions = 5, .min_time_s = 0.02, .seed = -1};
    // The sizes include twice, five and ten times each other, up to the largest.
    for (uint32_t bytes = word; bytes <= 1 << 16; bytes *= 2) {
        options->bytes[options->n_bytes++] = bytes;
        if (5 * bytes <= 1 << 16) options->bytes[options->n_bytes++] = 5 * bytes;
    }
    for (int i = 1; i < argc; i++) {
        int k = 0;
        while (k < n_known && strcmp(argv[i], known[k].name) != 0) k++;
        const struct bench_option *o = &known[k];
        const char *value = k < n_known ? argv[++i] : NULL;
        if (k == n_known && strcmp(argv[i], "--list") == 0)
            options->action = bench_list;
        else if (k == n_known && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            options->action = bench_help;
        else if (k == n_known)
            return error_set(error, "%s: unexpected; see bench_exchange --help", argv[i]);
        else if (!value)
            return error_set(error, "%s: no value follows; see bench_exchange --help", o->name);
        else if (k == 0 && !read_bytes(options, o, value, error))
            return false;
        else if (o->number && !read_number(o, value, o->number, error))
            return false;
        else if (strcmp(o->name, "--filter") == 0)
            options->filter = value;
        else if (strcmp(o->name, "--out") == 0)
            options->out = value;
    }
    return true;
}

enum { warm_rounds = 3, most_rounds = 100000 };

/// Writes "BACKEND/bytes:N", as snprintf does.
static void bench_case_name(const struct bench_case *c, char *name, size_t size) {
    snprintf(name, size, "%s/bytes:%u", c->backend->name, c->bytes);
}

static uint32_t word_of(int from, uint32_t number) {
    return (uint32_t)from * 2654435761U + number;
}

/// Opens an exchange between all ranks, and fills its send buffer.
static struct exchange *open_exchange(const struct bench_case *c, struct send_buffer *send_buffer,
                                      MPI_Comm world) {
    const int rank = comm_rank(world), ranks = comm_size(world);
    int *others = ALLOC(int, (size_t)ranks);
    for (int i = 0; i + 1 < ranks; i++) others[i] = i + (i >= rank);
    const struct exchange_spec spec = exchange_plain(c->backend);
    struct exchange *exchange =
        exchange_open(&spec, world, &(struct partners){ranks - 1, ranks - 1, others, others, NULL});
    free(others);
    send_buffer_open(send_buffer, exchange_destinations(c->backend, ranks));
    for (int to = 0; to < send_buffer->destinations; to++)
        for (uint32_t i = 0; i < c->bytes / word; i++) send_buffer_add(send_buffer, to, word_of(rank, i));
    return exchange;
}

/// Returns the run of a rank, an empty one where it sent nothing.
static struct receive_buffer_run run_from(const struct receive_buffer *receive_buffer, int rank) {
    for (int i = 0; i < receive_buffer->runs; i++)
        if (receive_buffer->run[i].from == rank) return receive_buffer->run[i];
    return (struct receive_buffer_run){.from = rank};
}

/// Checks that exactly the words arrived that were sent. Collective.
static bool arrived(const struct exchange *exchange, const struct bench_case *c, struct error *error) {
    char name[128];
    bench_case_name(c, name, sizeof name);
    for (int from = 0; from < exchange->ranks; from++) {
        const struct receive_buffer_run run = run_from(&exchange->receive_buffer, from);
        bool same = run.count == c->bytes / word;
        for (uint32_t i = 0; same && i < run.count; i++) same = run.words[i] == word_of(from, i);
        if (!same)
            error_set(error, "%s: rank %d received %u words from rank %d where %u were sent, or others", name,
                      exchange->rank, run.count, from, c->bytes / word);
    }
    return agree(exchange->comm, error);
}

static void round_timed(struct exchange *exchange, const struct send_buffer *send_buffer, double *barrier_s,
                        double *exchange_s) {
    const double before = clock_now();
    MPI_Barrier(exchange->comm);
    const double met = clock_now();
    exchange_start(exchange, send_buffer);
    exchange_finish(exchange, send_buffer);
    *exchange_s = clock_now() - met;
    *barrier_s = met - before;
}

/// Returns how many rounds take `min_time_s`, as some untimed ones suggest. The number is the same on all
/// ranks.
static uint32_t count_rounds(struct exchange *exchange, const struct send_buffer *send_buffer,
                             double min_time_s) {
    double barrier_s, exchange_s, taken_s = clock_now();
    for (int i = 0; i < warm_rounds; i++) round_timed(exchange, send_buffer, &barrier_s, &exchange_s);
    taken_s = clock_now() - taken_s;
    MPI_Allreduce(MPI_IN_PLACE, &taken_s, 1, MPI_DOUBLE, MPI_MAX, exchange->comm);
    const double wanted = ceil(min_time_s * warm_rounds / taken_s);
    return wanted < 1 ? 1 : wanted > most_rounds ? most_rounds : (uint32_t)wanted;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Returns the median. Sorts the values.
static double median(double *values, uint32_t n) {
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Opens the exchange, checks what a first round moves, and times rounds for at least `min_time_s`: those of
/// the slowest rank in each round, on all ranks. Collective over `world`.
/// \return false, with the same error on all ranks, if words got lost.
static bool bench_case_time(const struct bench_case *c, MPI_Comm world, double min_time_s,
                            struct bench_measurement *m, struct error *error) {
    struct send_buffer send_buffer;
    struct exchange *exchange = open_exchange(c, &send_buffer, world);
    exchange_start(exchange, &send_buffer);
    exchange_finish(exchange, &send_buffer);
    const bool good = arrived(exchange, c, error);
    if (good) {
        const uint32_t n = m->rounds = count_rounds(exchange, &send_buffer, min_time_s);
        double *barrier_s = ALLOC(double, n), *exchange_s = ALLOC(double, n);
        for (uint32_t i = 0; i < n; i++) round_timed(exchange, &send_buffer, &barrier_s[i], &exchange_s[i]);
        MPI_Allreduce(MPI_IN_PLACE, barrier_s, (int)n, MPI_DOUBLE, MPI_MAX, exchange->comm);
        MPI_Allreduce(MPI_IN_PLACE, exchange_s, (int)n, MPI_DOUBLE, MPI_MAX, exchange->comm);
        m->barrier_s = median(barrier_s, n);
        m->exchange_s = median(exchange_s, n);
        FREE(barrier_s, exchange_s);
    }
    exchange_close(exchange);
    send_buffer_close(&send_buffer);
    return good;
}

/// Writes to `file` and flushes it. \return whether that succeeded.
static bool bench_report(const struct bench_results *results, FILE *file) {
    const struct bench_options *options = results->options;
    json_t *skipped = json_array(), *cases = json_array(), *measurements = json_array();
    for (size_t i = 0; i < results->n_skipped; i++)
        json_array_append_new(skipped, json_pack("{ss ss}", "exchange", results->skipped[i].backend->name,
                                                 "reason", results->skipped[i].reason));
    for (size_t i = 0; i < results->n_cases; i++)
        json_array_append_new(cases, json_pack("{ss si}", "exchange", results->cases[i].backend->name,
                                               "bytes", (int)results->cases[i].bytes));
    for (size_t i = 0; i < results->n_measurements; i++) {
        const struct bench_measurement *m = &results->measurements[i];
        json_array_append_new(measurements,
                              json_pack("{sI si si sf sf}", "case", (json_int_t)m->number, "repetition",
                                        m->repetition, "rounds", (int)m->rounds, "barrier_s", m->barrier_s,
                                        "exchange_s", m->exchange_s));
    }
    json_t *root = json_pack(
        "{ss si so si si sb si sf sI so so so}", "kind", "exchange times", "format_version", 2, "provenance",
        provenance_json(results->started), "ranks", results->ranks, "nodes", results->nodes, "oversubscribed",
        results->oversubscribed, "repetitions", (int)options->repetitions, "min_time_s", options->min_time_s,
        "seed", (json_int_t)results->seed, "skipped", skipped, "cases", cases, "measurements", measurements);
    const bool written = root && json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
                         fputc('\n', file) != EOF && fflush(file) == 0 && !ferror(file);
    json_decref(root);
    return written;
}

enum { order_group = 0xfffffffe }; // of random numbers

/// Finds out how many nodes there are, and whether one of them has more ranks than cores. Collective.
static void read_machine(struct bench_results *results, MPI_Comm world) {
    struct host host;
    MPI_Comm node;
    host_read(&host);
    const int rank = comm_rank(world);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    const int own = comm_rank(node), mates = comm_size(node);
    MPI_Comm_free(&node);
    int first = own == 0, crowded = host.cores > 0 && mates > host.cores;
    MPI_Allreduce(&first, &results->nodes, 1, MPI_INT, MPI_SUM, world);
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, world);
    results->oversubscribed = crowded;
}

/// Fills the cases and the back-ends that are skipped. Collective.
static bool choose(struct bench_results *results, MPI_Comm world, struct error *error) {
    const struct bench_options *o = results->options;
    size_t n = 0, matching = 0;
    regex_t pattern;
    if (regcomp(&pattern, o->filter, REG_EXTENDED | REG_NOSUB) != 0)
        return error_set(error, "--filter: \"%s\"; expected a regular expression", o->filter);
    while (exchange_backends[n]) n++;
    results->cases = ALLOC(struct bench_case, n * o->n_bytes);
    results->skipped = ALLOC(struct bench_skipped, n);
    for (size_t i = 0; i < n; i++) {
        struct bench_skipped *candidate = &results->skipped[results->n_skipped];
        if (regexec(&pattern, exchange_backends[i]->name, 0, NULL, 0) != 0) continue;
        matching++;
        candidate->backend = exchange_backends[i];
        // The reason, if any, is the same on all ranks.
        const struct exchange_backend *b = candidate->backend;
        const struct exchange_spec spec = exchange_plain(b);
        struct error lost = {""};
        candidate->reason[0] = '\0';
        if (b->absent)
            snprintf(candidate->reason, sizeof candidate->reason, "%s", b->absent);
        else if (b->ranks_max && b->ranks_max < results->ranks)
            snprintf(candidate->reason, sizeof candidate->reason, "serves at most %d rank(s)", b->ranks_max);
        else if (b->one_node && results->nodes > 1)
            snprintf(candidate->reason, sizeof candidate->reason, "serves the ranks of one node only");
        else if (!exchange_check(&spec, world, &lost))
            snprintf(candidate->reason, sizeof candidate->reason, "%s", lost.text);
        results->n_skipped += candidate->reason[0] != '\0';
        for (size_t k = 0; !candidate->reason[0] && k < o->n_bytes; k++)
            results->cases[results->n_cases++] = (struct bench_case){b, o->bytes[k]};
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
        shuffle(order, results->n_cases, results->seed, (uint32_t)repetition);
        for (size_t i = 0; good && i < results->n_cases; i++) {
            struct bench_measurement *m = &results->measurements[results->n_measurements];
            *m = (struct bench_measurement){.number = order[i], .repetition = repetition};
            const struct bench_case *c = &results->cases[order[i]];
            good = bench_case_time(c, world, o->min_time_s, m, error);
            results->n_measurements += good;
            if (!talk || !good) continue;
            char name[128];
            bench_case_name(c, name, sizeof name);
            printf("%s %.3f us\n", name, 1e6 * m->exchange_s);
        }
    }
    free(order);
    return good;
}

/// \return the exit status.
static int run(struct bench_results *results, MPI_Comm world, bool first, struct error *error) {
    const char *out = results->options->out;
    char beside[4096];
    FILE *file = first ? stdout : NULL;
    if (first && out) {
        snprintf(beside, sizeof beside, "%s.partial", out);
        file = fopen(beside, "w");
        if (!file) error_set(error, "--out: \"%s\"; expected a file that can be written", out);
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
    int status = status_done;
    struct error error = {""};
    struct bench_options options;
    struct bench_results results = {.options = &options};
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    const int rank = comm_rank(world);
    MPI_Comm_size(world, &results.ranks);
    const time_t now = time(NULL);
    strftime(results.started, sizeof results.started, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (!bench_options_read(&options, argc, argv, results.ranks, &error)) {
        status = status_bad_input;
    } else if (options.action == bench_help) {
        if (rank == 0) fputs(bench_options_help, stdout);
    } else {
        results.seed = options.seed < 0 ? (uint32_t)now : (uint32_t)options.seed;
        MPI_Bcast(&results.seed, 1, MPI_UINT32_T, 0, world);
        read_machine(&results, world);
        if (!choose(&results, world, &error))
            status = status_bad_input;
        else if (options.action == bench_run)
            status = run(&results, world, rank == 0, &error);
        char name[128];
        const bool lists = rank == 0 && status == status_done && options.action == bench_list;
        for (size_t i = 0; lists && i < results.n_cases; i++) {
            bench_case_name(&results.cases[i], name, sizeof name);
            puts(name);
        }
        for (size_t i = 0; lists && i < results.n_skipped; i++)
            fprintf(stderr, "%s: left out: %s\n", results.skipped[i].backend->name,
                    results.skipped[i].reason);
    }
    if (rank == 0 && error_stands(&error)) fprintf(stderr, "bench_exchange: %s\n", error.text);
    FREE(results.cases, results.skipped, results.measurements);
    MPI_Finalize();
    return status;
}
