/// \file
/// What an exchange costs its own rank, beside what MPI does: the real send buffer, back-end and receive
/// buffer of a rank that has the same partners among more and more ranks. MPI is replaced by functions of the
/// same names that bring a word from each partner and send nothing, so that one process stands for one of any
/// number of ranks.
///
/// Writes one JSON object: for each exchange and number of ranks, the least processor time of a window in ns,
/// of several repetitions: filling the send buffer, start, finish, joining, clearing. With `--check FACTOR`,
/// exits with 1 where an exchange between partners takes more than that many times as long among the most
/// ranks as among the fewest.

#include "base/alloc.h"
#include "transport/exchange.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" // of the functions in place of MPI's

enum { partners_n = 32, counts = 4, repetitions = 15, windows = 200 };
static const int among[counts] = {128, 1024, 4096, 16384};

/// The run that the functions below pretend to be part of.
static struct pretended {
    int ranks, partner[partners_n], next; ///< next: partner whose message is found next
} pretended;

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    return *rank = 0, MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *ranks) {
    return *ranks = pretended.ranks, MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
    return *copy = comm, MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm) {
    return *comm = MPI_COMM_NULL, MPI_SUCCESS;
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *there) {
    static const int last_tag = 32767;
    *(const int **)value = &last_tag;
    return *there = 1, MPI_SUCCESS;
}

int MPI_Isend(const void *words, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *r) {
    return *r = MPI_REQUEST_NULL, MPI_SUCCESS;
}

int MPI_Issend(const void *words, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *r) {
    return MPI_Isend(words, count, type, to, tag, comm, r);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status) {
    *there = pretended.next < partners_n;
    if (*there && status) status->MPI_SOURCE = pretended.partner[pretended.next++];
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) {
    return *count = 1, MPI_SUCCESS;
}

int MPI_Recv(void *words, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    *(uint32_t *)words = (uint32_t)from;
    return MPI_SUCCESS;
}

int MPI_Irecv(void *words, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r) {
    *r = MPI_REQUEST_NULL;
    return MPI_Recv(words, count, type, from, tag, comm, MPI_STATUS_IGNORE);
}

int MPI_Testall(int n, MPI_Request *requests, int *all, MPI_Status *statuses) {
    return *all = 1, MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    return MPI_SUCCESS;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    return *request = MPI_REQUEST_NULL, MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *complete, MPI_Status *status) {
    return *complete = 1, MPI_SUCCESS;
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int *in, const int *weights_in, int n_out,
                                   const int *out, const int *weights_out, MPI_Info info, int reorder,
                                   MPI_Comm *graph) {
    return *graph = MPI_COMM_SELF, MPI_SUCCESS; // another one
}

int MPI_Neighbor_alltoall(const void *sent, int n, MPI_Datatype type, void *got, int m, MPI_Datatype other,
                          MPI_Comm comm) {
    for (int i = 0; i < partners_n; i++) ((int *)got)[i] = 1;
    return MPI_SUCCESS;
}

int MPI_Neighbor_alltoallv(const void *sent, const int *n, const int *at, MPI_Datatype type, void *got,
                           const int *m, const int *to, MPI_Datatype other, MPI_Comm comm) {
    for (int i = 0; i < partners_n; i++) ((uint32_t *)got)[to[i]] = (uint32_t)i;
    return MPI_SUCCESS;
}

int MPI_Alltoall(const void *sent, int n, MPI_Datatype type, void *got, int m, MPI_Datatype other,
                 MPI_Comm comm) {
    for (int i = 0; i < partners_n; i++) ((int *)got)[(size_t)pretended.partner[i] * (size_t)n] = 1;
    if (n == 1) ((int *)got)[0] = 1; // sizes: of the own word
    return MPI_SUCCESS;
}

int MPI_Alltoallv(const void *sent, const int *n, const int *at, MPI_Datatype type, void *got, const int *m,
                  const int *to, MPI_Datatype other, MPI_Comm comm) {
    for (int i = 0; i < partners_n; i++) ((uint32_t *)got)[to[pretended.partner[i]]] = (uint32_t)i;
    return MPI_SUCCESS;
}

/// Moves a window as a lane does. \return a sum of the words, so that they are read.
static uint32_t move_window(struct exchange *exchange, struct send_buffer *send_buffer,
                            struct word_buffer *joined) {
    uint32_t sum = 0;
    pretended.next = 0;
    for (int i = 0; i < partners_n; i++) send_buffer_add(send_buffer, pretended.partner[i], (uint32_t)i);
    send_buffer_add(send_buffer, 0, 1);
    exchange_start(exchange, send_buffer);
    exchange_finish(exchange, send_buffer);
    const struct receive_buffer *receive_buffer = &exchange->receive_buffer;
    const uint32_t *words = receive_buffer->together;
    if (!words && receive_buffer_is_scattered(receive_buffer)) {
        receive_buffer_join(joined, receive_buffer);
        words = joined->words;
    }
    for (size_t i = 0; words && i < receive_buffer->words; i++) sum += words[i];
    send_buffer_clear(send_buffer);
    return sum;
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/// Returns the least time of a window among so many ranks.
static double time_window(const struct exchange_backend *backend, int ranks) {
    pretended.ranks = ranks;
    int to[partners_n + 1] = {0};
    for (int i = 0; i < partners_n; i++)
        to[i + 1] = pretended.partner[i] = 1 + i * ((ranks - 1) / partners_n);
    struct send_buffer send_buffer;
    struct word_buffer joined = {0};
    const struct partners partners = {partners_n, partners_n, pretended.partner, pretended.partner, NULL};
    struct exchange *exchange =
        exchange_open(&(struct exchange_spec){.backend = backend}, MPI_COMM_WORLD, &partners);
    send_buffer_open_some(&send_buffer, ranks, to, partners_n + 1);
    double least = 1e300;
    volatile uint32_t sum = 0;
    for (int r = 0; r < repetitions; r++) {
        const double before = nanoseconds();
        for (int w = 0; w < windows; w++) sum += move_window(exchange, &send_buffer, &joined);
        const double took = (nanoseconds() - before) / windows;
        least = took < least ? took : least;
    }
    send_buffer_close(&send_buffer);
    word_buffer_close(&joined);
    exchange_close(exchange);
    return least;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"p2p", "direct", "sparse", "neighbor", "alltoallv", "alltoall"};
    enum { n_names = sizeof names / sizeof *names, between_partners = 4 };
    const double factor = argc > 2 && strcmp(argv[1], "--check") == 0 ? strtod(argv[2], NULL) : 0;
    int slow = 0;
    printf("{\"partners\": %d, \"ranks\": [", partners_n);
    for (int i = 0; i < counts; i++) printf("%s%d", i ? ", " : "", among[i]);
    printf("], \"ns_per_window\": {");
    for (int x = 0; x < n_names; x++) {
        double took[counts];
        const struct exchange_backend *backend = exchange_find(names[x]);
        if (backend->absent) continue;
        printf("%s\"%s\": [", x ? ", " : "", names[x]);
        for (int i = 0; i < counts; i++) {
            took[i] = time_window(backend, among[i]);
            printf("%s%.0f", i ? ", " : "", took[i]);
        }
        printf("]");
        slow += x < between_partners && factor > 0 && took[counts - 1] > factor * took[0];
    }
    printf("}}\n");
    return slow > 0;
}
