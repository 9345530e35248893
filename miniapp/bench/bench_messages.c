/// \file
/// Times single messages between pairs of the ranks of mpirun, from which latency, bandwidth and the gap
/// between messages follow: see `help`. miniapp/FORMAT.md states the JSON.

#include "base/alloc.h"
#include "measurement/clock.h"
#include "measurement/host.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// `first` sends and reads the clock, `second` answers.
struct rank_pair {
    int first, second;
};

/// Messages that the first rank of a pair sends in a row. The second rank answers when it has all of them.
struct message_case {
    int bytes, messages;
};

/// A repetition of a case. `at_once`: how many pairs were sending at the same time.
struct message_time {
    int repetition;
    struct rank_pair pair;
    struct message_case what;
    int at_once, rounds;
    double round_s; ///< median over the rounds
};

/// What a rank has measured; `room` for so many.
struct message_times {
    struct message_time *all;
    int n, room;
};

enum { most_bytes = 1 << 22 };

/// Returns how many pairs `ranks` ranks have.
static int rank_pairs_all(int ranks) {
    return ranks * (ranks - 1) / 2;
}

/// Returns who sits at a place: the first place is fixed, the others move on by one in each round. With an
/// odd number of ranks, `seats` has one more, which stays empty in the first round's second place: -1.
static int seated(int place, int round, int seats, int ranks) {
    const int player = place == 0 ? 0 : 1 + (place - 1 + round) % (seats - 1);
    return seats == ranks || player == 0 ? player : player == 1 ? -1 : player - 1;
}

/// Returns pair `number` of `wanted` ones, both from 0 and at most rank_pairs_all. Pairs are in the order of
/// a round-robin tournament (Schurig 1886), in which every rank meets every other one once; fewer than all
/// are spread evenly over it. The first one is that of the first and the last rank.
static struct rank_pair rank_pair_of(int number, int wanted, int ranks) {
    const int seats = ranks + ranks % 2;
    const int place = (int)((long long)number * rank_pairs_all(ranks) / wanted);
    int met = 0;
    for (int round = 0;; round++)
        for (int table = 0; table < seats / 2; table++) {
            const int one = seated(table, round, seats, ranks);
            const int other = seated(seats - 1 - table, round, seats, ranks);
            if (one < 0 || other < 0 || met++ < place) continue;
            return one < other ? (struct rank_pair){one, other} : (struct rank_pair){other, one};
        }
}

enum { most_messages = 64, most_rounds = 100000, warm_rounds = 3, tag_answer = most_messages, tag_plan };

static const struct message_case cases[] = {{0, 1},     {4, 1},      {64, 1},      {512, 1},     {4096, 1},
                                            {32768, 1}, {262144, 1}, {1 << 20, 1}, {1 << 21, 1}, {1 << 22, 1},
                                            {0, 4},     {0, 16},     {0, 64}};
static const struct message_case large[] = {{1 << 20, 1}, {1 << 22, 1}};

enum { n_cases = sizeof cases / sizeof *cases, n_large = sizeof large / sizeof *large };

/// Returns the wall-clock seconds of a round on the rank that sends.
static double round_timed(const struct message_case *c, char *buffer, bool sends, int other) {
    MPI_Request requests[most_messages];
    const double before = clock_now();
    for (int i = 0; i < c->messages; i++)
        if (sends)
            MPI_Isend(buffer, c->bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(buffer, c->bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
    if (sends) MPI_Recv(NULL, 0, MPI_BYTE, other, tag_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(c->messages, requests, MPI_STATUSES_IGNORE);
    if (!sends) MPI_Send(NULL, 0, MPI_BYTE, other, tag_answer, MPI_COMM_WORLD);
    return clock_now() - before;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Returns how many rounds take `min_time_s` if nothing disturbs them.
static int rounds_for(const struct message_case *c, char *buffer, bool sends, int other, double min_time_s) {
    double least_s = INFINITY;
    round_timed(c, buffer, sends, other); // makes the connection and touches the memory
    for (int i = 0; i < warm_rounds; i++) least_s = fmin(least_s, round_timed(c, buffer, sends, other));
    const double wanted = ceil(min_time_s / least_s);
    return wanted < 1 ? 1 : wanted > most_rounds ? most_rounds : (int)wanted;
}

/// Returns the median over rounds.
static double median_timed(const struct message_case *c, char *buffer, bool sends, int other, int rounds) {
    double *times = ALLOC(double, (size_t)rounds);
    for (int i = 0; i < rounds; i++) times[i] = round_timed(c, buffer, sends, other);
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    const double median = times[rounds / 2];
    free(times);
    return median;
}

static int other_of(struct rank_pair pair, int rank) {
    return rank == pair.first ? pair.second : pair.first;
}

/// Times a case of a pair that is alone.
static struct message_time time_alone(const struct message_case *c, char *buffer, struct rank_pair pair,
                                      int rank, int repetition, double min_time_s) {
    const bool sends = rank == pair.first;
    const int other = other_of(pair, rank);
    int rounds = rounds_for(c, buffer, sends, other, min_time_s);
    if (sends)
        MPI_Send(&rounds, 1, MPI_INT, other, tag_plan, MPI_COMM_WORLD);
    else
        MPI_Recv(&rounds, 1, MPI_INT, other, tag_plan, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double seconds = median_timed(c, buffer, sends, other, rounds);
    return (struct message_time){repetition, pair, *c, 1, rounds, seconds};
}

static void keep(struct message_times *times, struct message_time time, int rank) {
    if (rank == time.pair.first && times->n < times->room) times->all[times->n++] = time;
}

/// Times large messages from each rank of the first half to its partner in the second half: one pair at a
/// time, and all of them at once. An odd rank in between is left out. Collective.
static void message_times_halves(struct message_times *times, char *buffer, int rank, int ranks,
                                 int repetition, double min_time_s) {
    const int half = ranks / 2, place = rank % (ranks - half);
    const struct rank_pair pair = {place, place + ranks - half};
    const bool takes_part = pair.second < ranks, sends = rank == pair.first;
    for (int i = 0; i < n_large; i++) {
        int rounds = 1;
        for (int turn = 0; turn < half; turn++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (takes_part && place == turn)
                keep(times, time_alone(&large[i], buffer, pair, rank, repetition, min_time_s), rank);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (takes_part) rounds = rounds_for(&large[i], buffer, sends, other_of(pair, rank), min_time_s);
        MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (!takes_part) continue;
        const double seconds = median_timed(&large[i], buffer, sends, other_of(pair, rank), rounds);
        keep(times, (struct message_time){repetition, pair, large[i], half, rounds, seconds}, rank);
    }
}

/// Says on the first rank whether it has sent a message while the second one was not yet asking for it. The
/// clock starts before the second rank does, so that a message that waits for it never seems to leave early.
static bool leaves_early(int bytes, char *buffer, struct rank_pair pair, int rank) {
    const double asleep_s = 0.01;
    const int other = other_of(pair, rank);
    const double before = clock_now();
    if (rank == pair.first) {
        MPI_Send(NULL, 0, MPI_BYTE, other, tag_plan, MPI_COMM_WORLD);
        MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        return clock_now() - before < 0.9 * asleep_s;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, other, tag_plan, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double asked = clock_now();
    int there;
    while (clock_now() - asked < asleep_s) // lets the library move what needs no request
        MPI_Iprobe(other, tag_answer, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return false;
}

/// Tries again where the message seems to wait, since the sender may have been held up. The answer of the
/// first rank goes to both.
static bool is_eager(int bytes, char *buffer, struct rank_pair pair, int rank) {
    enum { tries = 8 };
    int found = 0;
    for (int i = 0; i < tries && !found; i++) {
        found = leaves_early(bytes, buffer, pair, rank);
        if (rank == pair.first)
            MPI_Send(&found, 1, MPI_INT, pair.second, tag_plan, MPI_COMM_WORLD);
        else
            MPI_Recv(&found, 1, MPI_INT, pair.first, tag_plan, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return found;
}

/// Returns the largest message, up to most_bytes, that leaves the first rank of a pair before the second one
/// has asked for it; -1 if none does. Called by the two ranks only; the result is valid on the first one.
static int message_eager_bytes(struct rank_pair pair, char *buffer, int rank) {
    int eager = -1, asks = most_bytes;
    is_eager(0, buffer, pair, rank); // makes the connection
    if (is_eager(most_bytes, buffer, pair, rank)) eager = most_bytes;
    while (asks - eager > 1) {
        const int middle = eager + (asks - eager) / 2;
        if (is_eager(middle, buffer, pair, rank))
            eager = middle;
        else
            asks = middle;
    }
    return eager;
}

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
    "In a round, the first rank of a pair sends messages without waiting in between. The second one awaits\n"
    "all of them and answers with an empty one. The cases are one message of each size, and empty messages "
    "of\n"
    "each number. One pair at a time is measured; the other ranks wait.\n"
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
    char *buffer = ALLOC_ZERO(char, most_bytes);
    int eager = -1;
    for (int repetition = 0; repetition < options->repetitions; repetition++) {
        for (int i = 0; i < pairs; i++) {
            const struct rank_pair pair = rank_pair_of(i, pairs, ranks);
            MPI_Barrier(MPI_COMM_WORLD);
            for (int c = 0; (rank == pair.first || rank == pair.second) && c < n_cases; c++)
                keep(times, time_alone(&cases[c], buffer, pair, rank, repetition, options->min_time_s), rank);
        }
        if (options->bisection)
            message_times_halves(times, buffer, rank, ranks, repetition, options->min_time_s);
    }
    const struct rank_pair ends = rank_pair_of(0, 1, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (options->eager && (rank == ends.first || rank == ends.second))
        eager = message_eager_bytes(ends, buffer, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    free(buffer);
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
    FREE(counts, places);
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

/// \return NULL, or what is wrong.
static const char *read_options(struct options *options, int argc, char **argv, int ranks) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bisection") == 0) options->bisection = true;
        if (strcmp(argv[i], "--eager") == 0) options->eager = true;
        if (strcmp(argv[i], "--bisection") == 0 || strcmp(argv[i], "--eager") == 0) continue;
        const char *name = argv[i], *text = argv[++i];
        char *end = "no value";
        const double value = text ? strtod(text, &end) : 0;
        const bool counts = !*end && value >= 1 && value <= 10000 && value == floor(value);
        if (strcmp(name, "--repetitions") == 0 && counts)
            options->repetitions = (int)value;
        else if (strcmp(name, "--repetitions") == 0)
            return "--repetitions: expected an integer from 1 to 10000";
        else if (strcmp(name, "--pairs") == 0 && counts)
            options->pairs = (int)value;
        else if (strcmp(name, "--pairs") == 0)
            return "--pairs: expected an integer from 1 to 10000";
        else if (strcmp(name, "--min-time") == 0 && !*end && value >= 1e-6 && value <= 1e4)
            options->min_time_s = value;
        else if (strcmp(name, "--min-time") == 0)
            return "--min-time: expected seconds from 0.000001 to 10000";
        else
            return "unknown option; see bench_messages --help";
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
        const int room = options.repetitions * (n_cases * (ranks - 1) + 2 * n_large); // meets every rank once
        struct message_times own = {ALLOC(struct message_time, (size_t)room), 0, room};
        char *names = ALLOC_ZERO(char, (size_t)ranks *name_length);
        const int eager = measure(&own, &options, rank, ranks);
        struct message_times all = collect(&own, names, rank, ranks);
        if (rank == 0 && !report(&all, names, ranks, eager)) status = status_failed;
        FREE(own.all, all.all, names);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
