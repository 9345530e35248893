#include "bench_messages_times.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { most_messages = 64, most_rounds = 100000, warm_rounds = 3, tag_answer = most_messages, tag_plan };

static const struct message_case cases[] = {{0, 1},     {4, 1},      {64, 1},      {512, 1},     {4096, 1},
                                            {32768, 1}, {262144, 1}, {1 << 20, 1}, {1 << 21, 1}, {1 << 22, 1},
                                            {0, 4},     {0, 16},     {0, 64}};
static const struct message_case large[] = {{1 << 20, 1}, {1 << 22, 1}};

enum { n_cases = sizeof cases / sizeof *cases, n_large = sizeof large / sizeof *large };

int message_times_room(int ranks) {
    return n_cases * (ranks - 1) + 2 * n_large; // it meets every other rank once
}

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

void message_times_pair(struct message_times *times, struct rank_pair pair, int rank, int repetition,
                        double min_time_s) {
    char *buffer = ALLOC_ZERO(char, most_bytes);
    for (int i = 0; i < n_cases; i++)
        keep(times, time_alone(&cases[i], buffer, pair, rank, repetition, min_time_s), rank);
    free(buffer);
}

void message_times_halves(struct message_times *times, int rank, int ranks, int repetition,
                          double min_time_s) {
    const int half = ranks / 2, place = rank % (ranks - half);
    const struct rank_pair pair = {place, place + ranks - half};
    const bool takes_part = pair.second < ranks, sends = rank == pair.first;
    char *buffer = ALLOC_ZERO(char, most_bytes);
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
    free(buffer);
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

int message_eager_bytes(struct rank_pair pair, int rank) {
    char *buffer = ALLOC_ZERO(char, most_bytes);
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
    free(buffer);
    return eager;
}
