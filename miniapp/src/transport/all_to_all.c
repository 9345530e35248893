#include "transport/all_to_all.h"

#ifdef SPIKEMARK_SIMULATED

#include "base/alloc.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag = 7391 };

// Returns how many messages a rank has on their way at a time, 0 for SimGrid's own choice.
static int messages_ahead(char call, int ranks, size_t bytes) {
    const char *rules = getenv("SPIKEMARK_ALL_TO_ALL");
    int found = 0, least = 0, ahead = 0, length = 0;
    size_t from = 0;
    for (char of = 0; rules && sscanf(rules, " %c:%d:%zu:%d%n", &of, &least, &from, &ahead, &length) == 4;
         rules += length)
        if (of == call && ranks >= least && bytes >= from) found = ahead;
    return found;
}

// Sends to lower and lower ranks and receives from higher and higher ones, so that nobody gets all messages
// at once, and waits for the oldest when `ahead` are on their way. Empty ones are sent if `all`.
static void in_turn(const uint32_t *send, struct parts out, uint32_t *receive, struct parts in, MPI_Comm comm,
                    int ahead, bool all) {
    int ranks, rank;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    if (in.count[rank])
        memcpy(receive + in.start[rank], send + out.start[rank], sizeof *send * (size_t)in.count[rank]);
    MPI_Request *arrive = ALLOC(MPI_Request, (size_t)ranks), *leave = ALLOC(MPI_Request, (size_t)ranks);
    for (int step = 1; step < ranks + ahead - 1; step++) {
        if (step < ranks) {
            const int from = (rank + step) % ranks, to = (rank - step + ranks) % ranks;
            arrive[step] = leave[step] = MPI_REQUEST_NULL;
            if (in.count[from] || all)
                MPI_Irecv(receive + in.start[from], in.count[from], MPI_UINT32_T, from, tag, comm,
                          &arrive[step]);
            if (out.count[to] || all)
                MPI_Isend(send + out.start[to], out.count[to], MPI_UINT32_T, to, tag, comm, &leave[step]);
        }
        const int oldest = step - ahead + 1;
        if (oldest < 1) continue;
        MPI_Wait(&arrive[oldest], MPI_STATUS_IGNORE);
        MPI_Wait(&leave[oldest], MPI_STATUS_IGNORE);
    }
    free(leave);
    free(arrive);
}

void all_to_all(const void *send, int count, void *receive, MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    const int ahead = messages_ahead('c', ranks, sizeof(uint32_t) * (size_t)count);
    if (ahead == 0) {
        MPI_Alltoall(send, count, MPI_UINT32_T, receive, count, MPI_UINT32_T, comm);
        return;
    }
    int *counts = ALLOC(int, (size_t)ranks), *starts = ALLOC(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) {
        counts[rank] = count;
        starts[rank] = rank * count;
    }
    const struct parts all = {counts, starts};
    in_turn(send, all, receive, all, comm, ahead, true);
    free(starts);
    free(counts);
}

void all_to_all_v(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    const int ahead = messages_ahead('v', ranks, 0);
    if (ahead)
        in_turn(send, out, receive, in, comm, ahead, ahead == 1);
    else
        MPI_Alltoallv(send, out.count, out.start, MPI_UINT32_T, receive, in.count, in.start, MPI_UINT32_T,
                      comm);
}

void all_to_all_few(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm) {
    in_turn(send, out, receive, in, comm, 1, false);
}

// Every rank passes on to the next what it has got from the one before.
static void in_a_ring(const uint32_t *send, int count, uint32_t *receive, MPI_Comm comm) {
    int ranks, rank;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    const int next = (rank + 1) % ranks, before = (rank - 1 + ranks) % ranks;
    memcpy(receive + (size_t)rank * (size_t)count, send, sizeof *send * (size_t)count);
    for (int step = 1; step < ranks; step++) {
        const size_t out = (size_t)((rank - step + 1 + ranks) % ranks);
        const size_t in = (size_t)((rank - step + ranks) % ranks);
        MPI_Sendrecv(receive + out * (size_t)count, count, MPI_UINT32_T, next, tag,
                     receive + in * (size_t)count, count, MPI_UINT32_T, before, tag, comm, MPI_STATUS_IGNORE);
    }
}

void all_gather(const void *send, int count, void *receive, MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (messages_ahead('g', ranks, sizeof(uint32_t) * (size_t)count))
        in_a_ring(send, count, receive, comm);
    else
        MPI_Allgather(send, count, MPI_UINT32_T, receive, count, MPI_UINT32_T, comm);
}

#else

void all_gather(const void *send, int count, void *receive, MPI_Comm comm) {
    MPI_Allgather(send, count, MPI_UINT32_T, receive, count, MPI_UINT32_T, comm);
}

void all_to_all(const void *send, int count, void *receive, MPI_Comm comm) {
    MPI_Alltoall(send, count, MPI_UINT32_T, receive, count, MPI_UINT32_T, comm);
}

void all_to_all_v(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm) {
    MPI_Alltoallv(send, out.count, out.start, MPI_UINT32_T, receive, in.count, in.start, MPI_UINT32_T, comm);
}

void all_to_all_few(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm) {
    all_to_all_v(send, out, receive, in, comm);
}

#endif
