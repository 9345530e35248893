/// \file
/// Times exchanges on their own, between the ranks of mpirun: see bench_options_help.
///
/// Each repetition of each case opens its exchange anew, so that no case finds the buffers of another, and
/// where buffers happen to lie varies between repetitions.

#include "measurement/clock.h"
#include "record/record.h"
#include <regex.h>

enum { values_most = 64 }; ///< values that an option may list
enum bench_action { bench_run, bench_list, bench_help };
enum { status_done = 0, status_failed = 1, status_bad_input = 2 };

/// Strings are borrowed from the command line.
struct bench_options {
    enum bench_action action;
    const char *filter; ///< regular expression (POSIX, extended) for names of back-ends
    const char *out;    ///< NULL: standard output
    /// What an option lists: bytes; to how many of the other ranks a rank sends, "all", "ring" or a fraction
    /// in (0, 1]; microseconds of skew.
    struct bench_list {
        struct bench_value {
            char name[32];
            double number; ///< of "all" and "ring" 0
        } value[values_most];
        size_t n;
    } bytes, targets, skew_us;
    double repetitions, min_time_s, seed; ///< seed -1: none was given
};

/// A rank sends `bytes` to itself and to each of its targets; a broadcast sends to all ranks in any case.
struct bench_case {
    const struct exchange_backend *backend;
    uint32_t bytes; ///< from one rank to another
    const struct bench_value *targets;
    double skew_us; ///< how late ranks are at most
};

/// One repetition of case `number`. In each round all ranks spin for their skew, meet at a barrier, and
/// exchange. The time of a round is that of its slowest rank, in seconds.
struct bench_measurement {
    size_t number;
    int repetition;
    uint32_t rounds;
    double barrier_s;       ///< median over the rounds; it includes the wait for the rank that is last
    double exchange_s;      ///< start to finish, median over the rounds
    double exchange_mean_s; ///< mean over the rounds
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

// -------------------- The command line

enum { word = 4, most_bytes = 1 << 24, most_words = 1 << 28 };

static const char *const bench_options_help =
    "bench_exchange: measures how long each exchange between the ranks of mpirun takes\n"
    "\n"
    "  mpirun -n R bench_exchange [--filter REGEX] [--bytes LIST] [--targets LIST] [--skew-us LIST]\n"
    "                             [--repetitions N] [--min-time S] [--seed N] [--out FILE]\n"
    "  bench_exchange --list      lists the cases that these options choose, and what is left out\n"
    "\n"
    "  --filter REGEX   only exchanges whose names match (.)\n"
    "  --bytes LIST     bytes from rank to rank (powers of two from 4 to 65536, and five times those)\n"
    "  --targets LIST   receivers: all, ring (both neighbours), or a fraction of the other ranks (all)\n"
    "  --skew-us LIST   before the barrier, ranks spin for a random time below this (0)\n"
    "  --repetitions N  repetitions of every case, each in a shuffled order (5)\n"
    "  --min-time S     shortest time of a repetition (0.02)\n"
    "  --seed N         seed of the order, the skew and the fractions (the time of day)\n"
    "  --out FILE       file for the JSON (standard output)\n"
    "\n"
    "miniapp/FORMAT.md states the JSON. Exit status: 0 done, 1 failed, 2 bad input.\n";

/// An option with a value: what it takes, in words and as limits; with words, for targets, or a step of whole
/// numbers; a list, or a single number.
struct bench_option {
    const char *name, *expected;
    double low, high, step;
    struct bench_list *list;
    double *number;
};

static bool read_number(const struct bench_option *o, const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= o->low && *value <= o->high &&
           (o->step <= 0 || fmod(*value, o->step) == 0);
}

/// Takes what stands between commas. Numbers of a list differ, as do its words.
static bool take_list(const struct bench_option *o, const char *text, struct error *error) {
    struct bench_list *list = o->list;
    list->n = 0;
    for (;; text++) {
        const size_t length = strcspn(text, ",");
        struct bench_value *value = &list->value[list->n];
        if (list->n++ == values_most)
            return error_set(error, "%s: more than %d values", o->name, values_most);
        snprintf(value->name, sizeof value->name, "%.*s", length < 32 ? (int)length : 31, text);
        const bool named = strcmp(value->name, "all") == 0 || strcmp(value->name, "ring") == 0;
        value->number = 0;
        if (!(named && o->step < 0) && !read_number(o, value->name, &value->number))
            return error_set(error, "%s: \"%s\"; expected %s", o->name, value->name, o->expected);
        for (struct bench_value *other = list->value; other < value; other++)
            if (other->number == value->number && (!named || strcmp(other->name, value->name) == 0))
                return error_set(error, "%s: \"%s\" twice; expected every value once", o->name, value->name);
        if (*(text += length) == '\0') return true;
    }
}

/// Reads the command line of `ranks` ranks, which bound the bytes.
static bool bench_options_read(struct bench_options *options, int argc, char **argv, int ranks,
                               struct error *error) {
    const int most = most_words / ranks * word < most_bytes ? most_words / ranks * word : most_bytes;
    const struct bench_option known[] = {
        {"--bytes", "multiples of 4 from 4 to 16777216, less on more than 64 ranks", word, most, word,
         &options->bytes, NULL},
        {"--targets", "all, ring, or a fraction above 0, at most 1", DBL_MIN, 1, -1, &options->targets, NULL},
        {"--skew-us", "microseconds from 0 to 1000000", 0, 1e6, 0, &options->skew_us, NULL},
        {"--repetitions", "an integer from 1 to 10000", 1, 1e4, 1, NULL, &options->repetitions},
        {"--seed", "an integer from 0 to 4294967295", 0, UINT32_MAX, 1, NULL, &options->seed},
        {"--min-time", "seconds from 0.000001 to 10000", 1e-6, 1e4, 0, NULL, &options->min_time_s},
        {"--filter", "", 0, 0, 0, NULL, NULL},
        {"--out", "", 0, 0, 0, NULL, NULL},
    };
    enum { n_known = sizeof known / sizeof *known };
    *options = (struct bench_options){.filter = ".",
                                      .targets = {{{"all", 0}}, 1},
                                      .skew_us = {{{"0", 0}}, 1},
                                      .repetitions = 5,
                                      .min_time_s = 0.02,
                                      .seed = -1};
    // The sizes include twice, five and ten times each other, up to the largest.
    for (uint32_t bytes = word; bytes <= 1 << 16; bytes *= 2) {
        options->bytes.value[options->bytes.n++].number = bytes;
        if (5 * bytes <= 1 << 16) options->bytes.value[options->bytes.n++].number = 5 * bytes;
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
        else if (o->list && !take_list(o, value, error))
            return false;
        else if (o->number && !read_number(o, value, o->number))
            return error_set(error, "%s: \"%s\"; expected %s", o->name, value, o->expected);
        else if (strcmp(o->name, "--filter") == 0)
            options->filter = value;
        else if (strcmp(o->name, "--out") == 0)
            options->out = value;
    }
    return true;
}

// -------------------- A case

enum { warm_rounds = 3, most_rounds = 100000 };
enum { pattern_group = 0xffffffff }; // of random numbers; repetitions have those below

/// An open exchange with its full outbox.
struct setup {
    const struct bench_case *c;
    struct exchange *exchange;
    struct outbox outbox;
    bool *sends; ///< [ranks] does a rank send to the one so many further?
    uint32_t seed, draw;
};

/// Writes "BACKEND/bytes:N/targets:WHICH/skew_us:X", as snprintf does.
static void bench_case_name(const struct bench_case *c, char *name, size_t size) {
    snprintf(name, size, "%s/bytes:%u/targets:%s/skew_us:%g", c->backend->name, c->bytes, c->targets->name,
             c->skew_us);
}

/// Draws which ranks a rank sends to, by how many ranks further they are: the same number on every rank.
/// \return how many other ranks those are.
static int draw_targets(const struct bench_value *targets, int ranks, uint32_t seed, bool *sends) {
    const int others = ranks - 1;
    int n = 0, wanted = others;
    if (strcmp(targets->name, "ring") == 0) wanted = others < 2 ? others : 2;
    if (targets->number > 0) {
        wanted = (int)lround(targets->number * others);
        if (wanted == 0 && others > 0) wanted = 1;
    }
    for (int shift = 0; shift < ranks; shift++) sends[shift] = shift == 0;
    for (int shift = 1; shift < ranks; shift++) {
        if (targets->number > 0) { // each of those left has the same chance
            struct rng_words drawn = rng_draw(seed, rng_inject, pattern_group, 0, (uint32_t)shift);
            sends[shift] =
                rng_below(drawn.word[0], drawn.word[1], (uint32_t)(ranks - shift)) < (uint32_t)(wanted - n);
        } else {
            sends[shift] = wanted == others || shift == 1 || shift == others;
        }
        n += sends[shift];
    }
    return n;
}

/// Returns to how many other ranks a rank sends, which is the same on all; a broadcast sends to all.
static int bench_case_partners(const struct bench_case *c, int ranks, uint32_t seed) {
    bool *sends = ALLOC(bool, (size_t)ranks);
    int n = draw_targets(c->targets, ranks, seed, sends);
    free(sends);
    return c->backend->broadcast ? ranks - 1 : n;
}

static bool comes(const struct setup *s, int from, int to) {
    const int ranks = s->exchange->ranks;
    return s->c->backend->broadcast || s->sends[(to - from + ranks) % ranks];
}

static uint32_t word_of(int from, uint32_t number) {
    return (uint32_t)from * 2654435761U + number;
}

static void open_exchange(struct setup *s, MPI_Comm world) {
    const int rank = comm_rank(world), ranks = comm_size(world);
    s->sends = ALLOC(bool, (size_t)ranks);
    draw_targets(s->c->targets, ranks, s->seed, s->sends);
    int *targets = ALLOC(int, (size_t)ranks), *sources = ALLOC(int, (size_t)ranks);
    struct partners partners = {.targets = targets, .sources = sources};
    for (int other = 0; other < ranks; other++) {
        if (other == rank) continue;
        if (s->sends[(other - rank + ranks) % ranks]) targets[partners.n_targets++] = other;
        if (s->sends[(rank - other + ranks) % ranks]) sources[partners.n_sources++] = other;
    }
    const struct exchange_spec spec = exchange_plain(s->c->backend);
    s->exchange = exchange_open(&spec, world, &partners);
    FREE(targets, sources);

    const uint32_t words = s->c->bytes / sizeof(uint32_t);
    outbox_open(&s->outbox, exchange_destinations(s->c->backend, ranks));
    for (int to = 0; to < s->outbox.ranks; to++)
        for (uint32_t i = 0; i < words; i++)
            if (comes(s, rank, to)) outbox_add(&s->outbox, to, word_of(rank, i));
}

/// Checks that exactly the words arrived that were sent. Collective.
static bool arrived(const struct setup *s, struct error *error) {
    const struct exchange *exchange = s->exchange;
    char name[128];
    bench_case_name(s->c, name, sizeof name);
    for (int from = 0; from < exchange->ranks; from++) {
        const struct inbox_run run = inbox_from(&exchange->inbox, from);
        const size_t sent = comes(s, from, exchange->rank) ? s->c->bytes / sizeof(uint32_t) : 0;
        bool same = run.count == sent;
        for (uint32_t i = 0; same && i < run.count; i++) same = run.words[i] == word_of(from, i);
        if (!same)
            error_set(error, "%s: rank %d received %u words from rank %d where %zu were sent, or others",
                      name, exchange->rank, run.count, from, sent);
    }
    return agree(exchange->comm, error);
}

/// Makes one round. `round` tells its random skew from that of others.
static void round_timed(struct setup *s, uint32_t round, double *barrier_s, double *exchange_s) {
    if (s->c->skew_us > 0) {
        struct rng_words drawn = rng_draw(s->seed, rng_inject, s->draw, (uint32_t)s->exchange->rank, round);
        pause_for(1e-6 * s->c->skew_us * rng_uniform(drawn.word[0]), false);
    }
    const double before = clock_now();
    MPI_Barrier(s->exchange->comm);
    const double met = clock_now();
    exchange_start(s->exchange, &s->outbox);
    exchange_finish(s->exchange, &s->outbox);
    *exchange_s = clock_now() - met;
    *barrier_s = met - before;
}

/// Returns how many rounds take `min_time_s`, as some untimed ones suggest. The number is the same on all
/// ranks.
static uint32_t count_rounds(struct setup *s, double min_time_s) {
    double barrier_s, exchange_s, taken_s = clock_now();
    for (uint32_t i = 0; i < warm_rounds; i++) round_timed(s, most_rounds + i, &barrier_s, &exchange_s);
    taken_s = clock_now() - taken_s;
    MPI_Allreduce(MPI_IN_PLACE, &taken_s, 1, MPI_DOUBLE, MPI_MAX, s->exchange->comm);
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
/// \param draw tells the random skews of this repetition from those of others
/// \return false, with the same error on all ranks, if words got lost.
static bool bench_case_time(const struct bench_case *c, MPI_Comm world, uint32_t seed, uint32_t draw,
                            double min_time_s, struct bench_measurement *m, struct error *error) {
    struct setup s = {.c = c, .seed = seed, .draw = draw};
    open_exchange(&s, world);
    exchange_start(s.exchange, &s.outbox);
    exchange_finish(s.exchange, &s.outbox);
    const bool good = arrived(&s, error);
    if (good) {
        const uint32_t n = m->rounds = count_rounds(&s, min_time_s);
        double *barrier_s = ALLOC(double, n), *exchange_s = ALLOC(double, n);
        for (uint32_t i = 0; i < n; i++) round_timed(&s, i, &barrier_s[i], &exchange_s[i]);
        MPI_Allreduce(MPI_IN_PLACE, barrier_s, (int)n, MPI_DOUBLE, MPI_MAX, s.exchange->comm);
        MPI_Allreduce(MPI_IN_PLACE, exchange_s, (int)n, MPI_DOUBLE, MPI_MAX, s.exchange->comm);
        for (uint32_t i = 0; i < n; i++) m->exchange_mean_s += exchange_s[i] / n;
        m->barrier_s = median(barrier_s, n);
        m->exchange_s = median(exchange_s, n);
        FREE(barrier_s, exchange_s);
    }
    exchange_close(s.exchange);
    outbox_close(&s.outbox);
    free(s.sends);
    return good;
}

// -------------------- The JSON; miniapp/FORMAT.md states it

/// Returns the seconds that one clock_now() takes, as a mean over many.
static double clock_read_s(void) {
    enum { reads = 10000 };
    volatile double last = 0;
    const double start = clock_now();
    for (int i = 0; i < reads; i++) last = clock_now();
    return (last - start) / reads;
}

/// Writes to `file` and flushes it. \return whether that succeeded.
static bool bench_report(const struct bench_results *results, FILE *file) {
    const struct bench_options *options = results->options;
    json_t *skipped = json_array(), *cases = json_array(), *measurements = json_array();
    struct host host;
    host_read(&host);
    for (size_t i = 0; i < results->n_skipped; i++)
        json_array_append_new(skipped, json_pack("{ss ss}", "exchange", results->skipped[i].backend->name,
                                                 "reason", results->skipped[i].reason));
    for (size_t i = 0; i < results->n_cases; i++) {
        const struct bench_case *c = &results->cases[i];
        const struct exchange_spec spec = exchange_plain(c->backend);
        const struct levels levels = levels_resolve(&spec.levels, results->ranks);
        const char *parts[2];
        for (int k = 0; k < 2; k++) parts[k] = levels.part[k] ? levels.part[k]->name : NULL;
        json_array_append_new(
            cases, json_pack("{ss ss? ss? si si ss si sf}", "exchange", c->backend->name, "inner", parts[0],
                             "outer", parts[1], "group", levels.size[0], "bytes", (int)c->bytes, "targets",
                             c->targets->name, "partners",
                             bench_case_partners(c, results->ranks, results->seed), "skew_us", c->skew_us));
    }
    for (size_t i = 0; i < results->n_measurements; i++) {
        const struct bench_measurement *m = &results->measurements[i];
        json_array_append_new(measurements,
                              json_pack("{sI si si sf sf sf}", "case", (json_int_t)m->number, "repetition",
                                        m->repetition, "rounds", (int)m->rounds, "barrier_s", m->barrier_s,
                                        "exchange_s", m->exchange_s, "exchange_mean_s", m->exchange_mean_s));
    }
    json_t *machine = json_pack("{ss ss ss si sb}", "name", host.name, "system", host.system, "cpu", host.cpu,
                                "cores", host.cores, "virtual_machine", host.virtual_machine);
    json_t *root = json_pack(
        "{ss si so so sf si si sb si sf sI so so so}", "kind", "exchange times", "format_version", 1,
        "provenance", provenance_json(results->started), "host", machine, "clock_read_s", clock_read_s(),
        "ranks", results->ranks, "nodes", results->nodes, "oversubscribed", results->oversubscribed,
        "repetitions", (int)options->repetitions, "min_time_s", options->min_time_s, "seed",
        (json_int_t)results->seed, "skipped", skipped, "cases", cases, "measurements", measurements);
    const bool written = root && json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
                         fputc('\n', file) != EOF && fflush(file) == 0 && !ferror(file);
    json_decref(root);
    return written;
}

// -------------------- All cases

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
    results->cases = ALLOC(struct bench_case, n * o->targets.n * o->skew_us.n * o->bytes.n);
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
        for (size_t k = 0; !candidate->reason[0] && k < o->targets.n * o->skew_us.n * o->bytes.n; k++) {
            const size_t rest = k / o->bytes.n; // bytes change fastest, then the skew
            results->cases[results->n_cases++] = (struct bench_case){
                exchange_backends[i], (uint32_t)o->bytes.value[k % o->bytes.n].number,
                &o->targets.value[rest / o->skew_us.n], o->skew_us.value[rest % o->skew_us.n].number};
        }
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
            good = bench_case_time(c, world, results->seed, (uint32_t)results->n_measurements, o->min_time_s,
                                   m, error);
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
