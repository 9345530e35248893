/// \file
/// Replays the messages of an exchange in simulated time: `replay FILE`. Only the numbers of bytes are given,
/// not the spikes, so thousands of ranks fit into one process. Written by
/// analysis/spikemark/running/simulation/smpirun.py.
///
/// FILE holds 32-bit integers in the order of this host: the ranks, the hops, `ahead`, and then for each hop
/// the messages, twice. First by sender: [ranks + 1] where the messages of each rank begin, [messages]
/// receivers, [messages] bytes, [messages] steps, ascending. Then by receiver: [ranks + 1] and [messages]
/// senders, bytes, steps.
///
/// In each hop a rank sends to its targets in the order of the file. With a positive `ahead`, messages have
/// steps, at which both ends begin them; so many steps are on their way at a time. With 0, a rank begins
/// everything at once and takes what comes first, as the exchange `p2p` does. With -1, it receives in the
/// order of the file, as `direct` does. A rank begins the next hop when it has sent and received everything
/// of this one. All ranks begin together.
///
/// Prints `time HOP LAST_US MEAN_US`: when the last rank and the mean rank have finished the hop, from the
/// beginning of the first one, and `memory BYTES`, the most that this process has held. Bad input ends with
/// one line and status 2.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { bad_input = 2, from_now_us = 1000 };

/// The messages of a hop of all ranks, as they stand in the file.
struct side {
    const int *begin, *other, *bytes, *step;
};

/// The file, read once for all ranks.
struct replayed {
    int ranks, hops, ahead;
    struct side *sent, *received; ///< [hops]
    char *buffer;                 ///< of the largest message, for all ranks: nobody looks at what it holds
};

/// Reads a file into words, owned by the caller; NULL where it cannot be opened.
static int *read_whole(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    int *words = malloc((size_t)size + 1);
    *count = words ? fread(words, sizeof *words, (size_t)size / sizeof *words, file) : 0;
    fclose(file);
    return words;
}

/// Takes one side of a hop off the words. \return false where the file ends too soon.
static bool take(struct side *side, int ranks, const int **at, const int *end) {
    if (end - *at < ranks + 1) return 0;
    side->begin = *at;
    const int count = side->begin[ranks];
    if (count < 0 || (end - *at - ranks - 1) / 3 < count) return false;
    side->other = side->begin + ranks + 1;
    side->bytes = side->other + count;
    side->step = side->bytes + count;
    *at = side->step + count;
    return true;
}

/// Reads the file. \return false where it is not one of messages.
static bool open_file(struct replayed *r, const char *path) {
    size_t count = 0;
    int *words = read_whole(path, &count), largest = 0;
    if (!words || count < 3) return false;
    const int *at = words + 3, *end = words + count;
    r->ranks = words[0];
    r->hops = words[1];
    r->ahead = words[2];
    if (r->ranks < 1 || r->hops < 1) return false;
    r->sent = calloc((size_t)r->hops, sizeof *r->sent);
    r->received = calloc((size_t)r->hops, sizeof *r->received);
    for (int hop = 0; hop < r->hops; hop++) {
        if (!take(&r->sent[hop], r->ranks, &at, end) || !take(&r->received[hop], r->ranks, &at, end))
            return false;
        for (int i = 0; i < r->sent[hop].begin[r->ranks]; i++)
            if (r->sent[hop].bytes[i] > largest) largest = r->sent[hop].bytes[i];
    }
    r->buffer = malloc((size_t)largest + 1);
    return r->buffer != NULL;
}

/// Returns the number of the first message, not before `from`, of a later step.
static int up_to(const struct side *side, int from, int last, int step) {
    while (from < last && side->step[from] <= step) from++;
    return from;
}

/// Sends and receives the messages of a hop step by step, with `ahead` steps on their way.
static void in_turn(const struct replayed *r, int hop, int rank) {
    const struct side *sent = &r->sent[hop], *received = &r->received[hop];
    const int out = sent->begin[rank], out_end = sent->begin[rank + 1];
    const int in = received->begin[rank], in_end = received->begin[rank + 1];
    const int messages = out_end - out + in_end - in;
    MPI_Request *requests = malloc(sizeof *requests * (size_t)(messages + 1)), *arrive = requests;
    MPI_Request *leave = requests + (in_end - in);
    int sending = out, receiving = in, left = out, arrived = in;
    for (int step = 0; left < out_end || arrived < in_end; step++) {
        for (int end = up_to(received, receiving, in_end, step); receiving < end; receiving++)
            MPI_Irecv(r->buffer, received->bytes[receiving], MPI_BYTE, received->other[receiving], hop,
                      MPI_COMM_WORLD, &arrive[receiving - in]);
        for (int end = up_to(sent, sending, out_end, step); sending < end; sending++)
            MPI_Isend(r->buffer, sent->bytes[sending], MPI_BYTE, sent->other[sending], hop, MPI_COMM_WORLD,
                      &leave[sending - out]);
        for (int end = up_to(received, arrived, receiving, step - r->ahead + 1); arrived < end; arrived++)
            MPI_Wait(&arrive[arrived - in], MPI_STATUS_IGNORE);
        for (int end = up_to(sent, left, sending, step - r->ahead + 1); left < end; left++)
            MPI_Wait(&leave[left - out], MPI_STATUS_IGNORE);
    }
    free(requests);
}

/// Begins all messages of a hop, and takes what comes first or, with -1, in the order of the file.
static void all_at_once(const struct replayed *r, int hop, int rank) {
    const struct side *sent = &r->sent[hop], *received = &r->received[hop];
    const int out = sent->begin[rank], out_end = sent->begin[rank + 1];
    const int in = received->begin[rank], in_end = received->begin[rank + 1];
    const int messages = out_end - out + in_end - in;
    MPI_Request *requests = malloc(sizeof *requests * (size_t)(messages + 1)), *next = requests;
    for (int i = in; i < in_end && r->ahead == 0; i++)
        MPI_Irecv(r->buffer, received->bytes[i], MPI_BYTE, received->other[i], hop, MPI_COMM_WORLD, next++);
    for (int i = out; i < out_end; i++)
        MPI_Isend(r->buffer, sent->bytes[i], MPI_BYTE, sent->other[i], hop, MPI_COMM_WORLD, next++);
    for (int i = in; i < in_end && r->ahead < 0; i++)
        MPI_Recv(r->buffer, received->bytes[i], MPI_BYTE, received->other[i], hop, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Waitall((int)(next - requests), requests, MPI_STATUSES_IGNORE);
    free(requests);
}

/// Lets all ranks begin at the same time, and returns it.
static double together(void) {
    double latest, now = MPI_Wtime();
    MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const long left = (long)((latest + 1e-6 * from_now_us - MPI_Wtime()) * 1e9);
    const struct timespec pause = {0, left > 0 ? left : 0};
    nanosleep(&pause, NULL);
    return MPI_Wtime();
}

int main(int argc, char **argv) {
    static struct replayed r; // of all ranks, which are in one process
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0 && (argc != 2 || !open_file(&r, argv[1]) || r.ranks != ranks)) {
        fprintf(stderr, "replay: \"%s\": expected a file of messages of %d ranks\n", argc > 1 ? argv[1] : "",
                ranks);
        MPI_Abort(MPI_COMM_WORLD, bad_input);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double *at = malloc(sizeof *at * (size_t)r.hops);
    // Hop after hop, without meeting in between.
    const double began = together();
    for (int hop = 0; hop < r.hops; hop++) {
        (r.ahead > 0 ? in_turn : all_at_once)(&r, hop, rank);
        at[hop] = MPI_Wtime() - began;
    }
    for (int hop = 0; hop < r.hops; hop++) {
        double last, sum;
        MPI_Allreduce(&at[hop], &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&at[hop], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("time %d %.6f %.6f\n", hop, 1e6 * last, 1e6 * sum / ranks);
    }
    struct rusage usage;
    if (rank == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        printf("memory %lld\n", 1024LL * usage.ru_maxrss); // Linux counts KiB
    free(at);
    MPI_Finalize();
    return 0;
}
