/// \file
/// Times single messages between the first and the last rank of mpirun, from which latency, bandwidth and the
/// gap between messages follow.
///
/// In a round, the first rank sends `messages` of `bytes` without waiting in between. The last rank awaits
/// all of them and answers with an empty one. The cases are one message of each size, and empty messages of
/// each number. Each repetition goes through all cases. Other ranks wait at the end. miniapp/FORMAT.md states
/// the JSON.

#include "base/alloc.h"
#include "measurement/clock.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };
enum { most_bytes = 1 << 22, most_messages = 64, most_rounds = 100000, warm_rounds = 3 };

struct message_case {
    int bytes, messages;
};

static const struct message_case cases[] = {{0, 1},     {4, 1},      {64, 1},      {512, 1},     {4096, 1},
                                            {32768, 1}, {262144, 1}, {1 << 20, 1}, {1 << 21, 1}, {1 << 22, 1},
                                            {0, 4},     {0, 16},     {0, 64}};

enum { n_cases = sizeof cases / sizeof *cases };

/// Returns the wall-clock seconds of a round on the first rank; `other` is the rank at the other end.
static double round_timed(const struct message_case *c, char *buffer, int rank, int other) {
    MPI_Request requests[most_messages];
    const double before = clock_now();
    for (int i = 0; i < c->messages; i++)
        if (rank == 0)
            MPI_Isend(buffer, c->bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(buffer, c->bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
    if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, other, most_messages, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(c->messages, requests, MPI_STATUSES_IGNORE);
    if (rank != 0) MPI_Send(NULL, 0, MPI_BYTE, other, most_messages, MPI_COMM_WORLD);
    return clock_now() - before;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Returns the median over rounds that take `min_time_s`; their number goes to `rounds`.
static double time_case(const struct message_case *c, char *buffer, int rank, int other, double min_time_s,
                        int *rounds) {
    double taken_s = 0, *times;
    round_timed(c, buffer, rank, other); // makes the connection and touches the memory
    for (int i = 0; i < warm_rounds; i++) taken_s += round_timed(c, buffer, rank, other);
    const double wanted = ceil(min_time_s * warm_rounds / taken_s);
    *rounds = wanted < 1 ? 1 : wanted > most_rounds ? most_rounds : (int)wanted;
    if (rank == 0)
        MPI_Send(rounds, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(rounds, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    times = ALLOC(double, (size_t)*rounds);
    for (int i = 0; i < *rounds; i++) times[i] = round_timed(c, buffer, rank, other);
    qsort(times, (size_t)*rounds, sizeof *times, ascending);
    const double median = times[*rounds / 2];
    free(times);
    return median;
}

/// Measures all cases. The first rank writes; the last one only answers.
static void measure(FILE *file, int rank, int ranks, int repetitions, double min_time_s) {
    char *buffer = ALLOC_ZERO(char, most_bytes);
    const int other = rank == 0 ? ranks - 1 : 0;
    if (file)
        fprintf(file,
                "{\"kind\": \"message times\", \"format_version\": 1, \"ranks\": %d, \"measurements\": [",
                ranks);
    for (int repetition = 0; repetition < repetitions; repetition++)
        for (int i = 0; i < n_cases; i++) {
            int rounds;
            const double seconds = time_case(&cases[i], buffer, rank, other, min_time_s, &rounds);
            if (!file) continue;
            fprintf(file, "%s\n {\"repetition\": %d, \"bytes\": %d, \"messages\": %d, ",
                    repetition + i ? "," : "", repetition, cases[i].bytes, cases[i].messages);
            fprintf(file, "\"rounds\": %d, \"round_s\": %.9g}", rounds, seconds);
        }
    if (file) fprintf(file, "\n]}\n");
    free(buffer);
}

static const char *const help =
    "bench_messages: measures how long messages between the first and the last rank of mpirun take\n"
    "\n"
    "  mpirun -n R bench_messages [--repetitions N] [--min-time S]\n"
    "\n"
    "  --repetitions N  repetitions of every case (5)\n"
    "  --min-time S     shortest time of a repetition (0.02)\n"
    "\n"
    "miniapp/FORMAT.md states the JSON, which goes to standard output. Exit status: 0 done, 2 bad input.\n";

/// \return NULL, or what is wrong.
static const char *read_options(int argc, char **argv, int ranks, int *repetitions, double *min_time_s) {
    for (int i = 1; i < argc; i += 2) {
        char *end = "no value";
        const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;
        if (strcmp(argv[i], "--repetitions") == 0) {
            if (*end || !(value >= 1 && value <= 10000) || value != floor(value))
                return "--repetitions: allowed: an integer from 1 to 10000";
            *repetitions = (int)value;
        } else if (strcmp(argv[i], "--min-time") == 0) {
            if (*end || !(value >= 1e-6 && value <= 1e4))
                return "--min-time: allowed: seconds from 0.000001 to 10000";
            *min_time_s = value;
        } else {
            return "unknown option; see bench_messages --help";
        }
    }
    return ranks < 2 ? "one rank; messages need at least 2" : NULL;
}

int main(int argc, char **argv) {
    int rank, ranks, repetitions = 5, status = status_done;
    double min_time_s = 0.02;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        if (rank == 0) fputs(help, stdout);
    } else {
        const char *wrong = read_options(argc, argv, ranks, &repetitions, &min_time_s);
        if (wrong) {
            if (rank == 0) fprintf(stderr, "bench_messages: %s\n", wrong);
            status = status_bad_input;
        } else if (rank == 0 || rank == ranks - 1) {
            measure(rank == 0 ? stdout : NULL, rank, ranks, repetitions, min_time_s);
            if (rank == 0 && fflush(stdout) != 0) status = status_failed;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
