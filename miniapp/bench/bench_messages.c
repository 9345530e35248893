/// \file
/// Times single messages between pairs of the ranks of mpirun, from which latency, bandwidth and the gap
/// between messages follow: see `help`. miniapp/FORMAT.md states the JSON.

#include "bench_messages_times.h"

#include "base/alloc.h"
#include "measurement/host.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };
enum { name_length = 128 };

struct options {
    int repetitions, pairs;
    double min_time_s;
    bool bisection, eager;
};

static const char *const help =
    "bench_messages: measures how long messages between ranks of mpirun take\n"
    "\n"
    "  mpirun -n R bench_messages [--pairs N] [--bisection] [--eager] [--repetitions N] [--min-time S]\n"
    "\n"
    "In a round, the first rank of a pair sends messages without waiting in between. The second one awaits "
    "all\n"
    "of them and answers with an empty one. The cases are one message of each size, and empty messages of "
    "each\n"
    "number. One pair at a time is measured; the other ranks wait.\n"
    "\n"
    "  --pairs N        pairs of ranks, spread evenly over all, or all there are (1: first and last rank)\n"
    "  --bisection      also large messages from the first half of the ranks to the second, all at once\n"
    "  --eager          also the largest message that leaves before its receiver asks for it (first pair)\n"
    "  --repetitions N  repetitions of every case (5)\n"
    "  --min-time S     shortest time of a repetition (0.02)\n"
    "\n"
    "miniapp/FORMAT.md states the JSON, which goes to standard output. Exit status: 0 done, 2 bad input.\n";

/// Measures everything into the times of the ranks that send. Returns the eager limit, bytes, on rank 0.
/// Collective.
static int measure(struct message_times *times, const struct options *options, int rank, int ranks) {
    const int most = rank_pairs_all(ranks), pairs = options->pairs < most ? options->pairs : most;
    int eager = -1;
    for (int repetition = 0; repetition < options->repetitions; repetition++) {
        for (int i = 0; i < pairs; i++) {
            const struct rank_pair pair = rank_pair_of(i, pairs, ranks);
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == pair.first || rank == pair.second)
                message_times_pair(times, pair, rank, repetition, options->min_time_s);
        }
        if (options->bisection) message_times_halves(times, rank, ranks, repetition, options->min_time_s);
    }
    const struct rank_pair ends = rank_pair_of(0, 1, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (options->eager && (rank == ends.first || rank == ends.second))
        eager = message_eager_bytes(ends, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return eager;
}

/// Collects what all ranks have measured on the first one, and the names of their nodes. Collective.
static struct message_times collect(const struct message_times *own, char *names, int rank, int ranks) {
    struct host host;
    host_read(&host);
    MPI_Gather(host.name, name_length, MPI_CHAR, names, name_length, MPI_CHAR, 0, MPI_COMM_WORLD);
    const int size = (int)sizeof *own->all, bytes = own->n * size;
    int *counts = ALLOC_ZERO(int, ranks), *places = ALLOC_ZERO(int, ranks), sum = 0;
    MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; sum += counts[i++]) places[i] = sum;
    struct message_times all = {ALLOC(struct message_time, (size_t)(sum / size)), sum / size, sum / size};
    MPI_Gatherv(own->all, bytes, MPI_BYTE, all.all, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
    return all;
}

/// Writes the JSON. Names of nodes have no characters that JSON would have to escape.
static bool report(const struct message_times *times, const char *names, int ranks, int eager) {
    printf("{\"kind\": \"message times\", \"format_version\": 1, \"ranks\": %d,\n \"nodes\": [", ranks);
    for (int i = 0; i < ranks; i++) printf("%s\"%s\"", i ? ", " : "", names + (size_t)i * name_length);
    printf("],\n \"eager_bytes\": ");
    printf(eager < 0 ? "null" : "%d", eager);
    printf(", \"measurements\": [");
    for (int i = 0; i < times->n; i++) {
        const struct message_time *t = &times->all[i];
        printf("%s\n {\"repetition\": %d, \"pair\": [%d, %d], \"at_once\": %d, \"bytes\": %d, ", i ? "," : "",
               t->repetition, t->pair.first, t->pair.second, t->at_once, t->what.bytes);
        printf("\"messages\": %d, \"rounds\": %d, \"round_s\": %.9g}", t->what.messages, t->rounds,
               t->round_s);
    }
    printf("\n]}\n");
    return fflush(stdout) == 0 && !ferror(stdout);
}

/// Takes the value of an option. \return NULL, or what is wrong.
static const char *take(struct options *options, const char *name, const char *text) {
    char *end = "no value";
    const double value = text ? strtod(text, &end) : 0;
    const bool counts = !*end && value >= 1 && value <= 10000 && value == floor(value);
    if (strcmp(name, "--repetitions") == 0) {
        if (!counts) return "--repetitions: allowed: an integer from 1 to 10000";
        options->repetitions = (int)value;
    } else if (strcmp(name, "--pairs") == 0) {
        if (!counts) return "--pairs: allowed: an integer from 1 to 10000";
        options->pairs = (int)value;
    } else if (strcmp(name, "--min-time") == 0) {
        if (*end || !(value >= 1e-6 && value <= 1e4))
            return "--min-time: allowed: seconds from 0.000001 to 10000";
        options->min_time_s = value;
    } else {
        return "unknown option; see bench_messages --help";
    }
    return NULL;
}

/// \return NULL, or what is wrong.
static const char *read_options(struct options *options, int argc, char **argv, int ranks) {
    for (int i = 1; i < argc; i++) {
        const char *wrong = NULL;
        if (strcmp(argv[i], "--bisection") == 0)
            options->bisection = true;
        else if (strcmp(argv[i], "--eager") == 0)
            options->eager = true;
        else {
            wrong = take(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        }
        if (wrong) return wrong;
    }
    return ranks < 2 ? "one rank; messages need at least 2" : NULL;
}

int main(int argc, char **argv) {
    int rank, ranks, status = status_done;
    struct options options = {.repetitions = 5, .pairs = 1, .min_time_s = 0.02};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *wrong = NULL;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        if (rank == 0) fputs(help, stdout);
    } else if ((wrong = read_options(&options, argc, argv, ranks))) {
        if (rank == 0) fprintf(stderr, "bench_messages: %s\n", wrong);
        status = status_bad_input;
    } else {
        const int room = options.repetitions * message_times_room(ranks);
        struct message_times own = {ALLOC(struct message_time, (size_t)room), 0, room};
        char *names = ALLOC_ZERO(char, (size_t)ranks *name_length);
        const int eager = measure(&own, &options, rank, ranks);
        struct message_times all = collect(&own, names, rank, ranks);
        if (rank == 0 && !report(&all, names, ranks, eager)) status = status_failed;
        free(own.all);
        free(all.all);
        free(names);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
