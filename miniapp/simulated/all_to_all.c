/// \file
/// All-to-all and all-gather by single messages, so that SimGrid simulates the algorithm that is chosen
/// (see all_to_all.h for how, and why).
///
/// in_turn() sends to one rank after the other with a limited number of messages on their way; in_a_ring()
/// passes blocks on from neighbour to neighbour. The three functions at the end take the place of the calls
/// of MPI, which they still make where no algorithm is named; their names stand in brackets there, so that
/// the macros of the header do not apply.

#include "all_to_all.h"

#include "base/alloc.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag = 7391 }; ///< of the messages: any number that no exchange uses in the same communicator

/// Returns how many messages a rank has on their way at a time, 0 for SimGrid's own choice.
static int messages_ahead(char call, int ranks, size_t bytes) {
    const char *rules = getenv("SPIKEMARK_ALL_TO_ALL");
    int found = 0, least = 0, ahead = 0, length = 0;
    size_t from = 0;
    for (char of = 0; rules && sscanf(rules, " %c:%d:%zu:%d%n", &of, &least, &from, &ahead, &length) == 4;
         rules += length)
        if (of == call && ranks >= least && bytes >= from) found = ahead;
    return found;
}

/// What is the same for all messages of a call.
struct call {
    const char *send;  ///< items for the other ranks; borrowed
    char *receive;     ///< room for theirs; borrowed
    size_t each;       ///< bytes of an item
    MPI_Datatype type; ///< of an item
    MPI_Comm comm;     ///< of the ranks
    int rank, ranks;   ///< this one, and how many there are
};

/// Fills in what is the same for all messages.
static struct call call_of(const void *send, MPI_Datatype type, void *receive, MPI_Comm comm) {
    int each;
    struct call call = {.send = send, .receive = receive, .type = type, .comm = comm};
    MPI_Comm_size(comm, &call.ranks);
    MPI_Comm_rank(comm, &call.rank);
    MPI_Type_size(type, &each);
    call.each = (size_t)each;
    return call;
}

/// Sends to lower and lower ranks and receives from higher and higher ones, so that nobody gets all messages
/// at once, and waits for the oldest when `ahead` are on their way. Empty ones are sent if `all`.
static void in_turn(const struct call *call, const int *out, const int *out_at, const int *in,
                    const int *in_at, int ahead, bool all) {
    const int ranks = call->ranks, rank = call->rank;
    const size_t each = call->each;
    if (in[rank])
        memcpy(call->receive + each * (size_t)in_at[rank], call->send + each * (size_t)out_at[rank],
               each * (size_t)in[rank]);
    MPI_Request *arrive = ALLOC(MPI_Request, (size_t)ranks), *leave = ALLOC(MPI_Request, (size_t)ranks);
    for (int step = 1; step < ranks + ahead - 1; step++) {
        if (step < ranks) {
            const int from = (rank + step) % ranks, to = (rank - step + ranks) % ranks;
            arrive[step] = leave[step] = MPI_REQUEST_NULL;
            if (in[from] || all)
                MPI_Irecv(call->receive + each * (size_t)in_at[from], in[from], call->type, from, tag,
                          call->comm, &arrive[step]);
            if (out[to] || all)
                MPI_Isend(call->send + each * (size_t)out_at[to], out[to], call->type, to, tag, call->comm,
                          &leave[step]);
        }
        // Then wait for those of the oldest step that is still under way.
        const int oldest = step - ahead + 1;
        if (oldest < 1) continue;
        MPI_Wait(&arrive[oldest], MPI_STATUS_IGNORE);
        MPI_Wait(&leave[oldest], MPI_STATUS_IGNORE);
    }
    free(leave);
    free(arrive);
}

int simulated_all_to_all(const void *send, int count, MPI_Datatype type, void *receive, int received,
                         MPI_Datatype same, MPI_Comm comm) {
    const struct call call = call_of(send, type, receive, comm);
    const int ahead = messages_ahead('c', call.ranks, call.each * (size_t)count);
    if (ahead == 0) return (MPI_Alltoall)(send, count, type, receive, received, same, comm);
    int *counts = ALLOC(int, (size_t)call.ranks), *at = ALLOC(int, (size_t)call.ranks);
    for (int rank = 0; rank < call.ranks; rank++) {
        counts[rank] = count;
        at[rank] = rank * count;
    }
    in_turn(&call, counts, at, counts, at, ahead, true);
    free(at);
    free(counts);
    return MPI_SUCCESS;
}

int simulated_all_to_all_v(const void *send, const int *out, const int *out_at, MPI_Datatype type,
                           void *receive, const int *in, const int *in_at, MPI_Datatype same, MPI_Comm comm) {
    const struct call call = call_of(send, type, receive, comm);
    const int ahead = messages_ahead('v', call.ranks, 0);
    if (ahead == 0) return (MPI_Alltoallv)(send, out, out_at, type, receive, in, in_at, same, comm);
    in_turn(&call, out, out_at, in, in_at, ahead, ahead == 1);
    return MPI_SUCCESS;
}

/// Every rank passes on to the next what it has got from the one before.
static void in_a_ring(const struct call *call, int count) {
    const int ranks = call->ranks, rank = call->rank;
    const int next = (rank + 1) % ranks, before = (rank - 1 + ranks) % ranks;
    const size_t bytes = call->each * (size_t)count;
    memcpy(call->receive + (size_t)rank * bytes, call->send, bytes);
    for (int step = 1; step < ranks; step++) {
        const size_t out = (size_t)((rank - step + 1 + ranks) % ranks);
        const size_t in = (size_t)((rank - step + ranks) % ranks);
        MPI_Sendrecv(call->receive + out * bytes, count, call->type, next, tag, call->receive + in * bytes,
                     count, call->type, before, tag, call->comm, MPI_STATUS_IGNORE);
    }
}

int simulated_all_gather(const void *send, int count, MPI_Datatype type, void *receive, int received,
                         MPI_Datatype same, MPI_Comm comm) {
    const struct call call = call_of(send, type, receive, comm);
    if (!messages_ahead('g', call.ranks, call.each * (size_t)count))
        return (MPI_Allgather)(send, count, type, receive, received, same, comm);
    in_a_ring(&call, count);
    return MPI_SUCCESS;
}
