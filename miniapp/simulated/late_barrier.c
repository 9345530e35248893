/// \file
/// A barrier of messages, log2(ranks) rounds of them: in SimGrid's MPI_Ibarrier all ranks but the first
/// go on at once.

#include "transport/exchange/late_barrier.h"

#include "transport/communicator.h"

enum { barrier_tag = 2 }; // messages of spikes have 0 and 1

// The dissemination barrier (Hensgen, Finkel and Manber 1988): in each round a rank hears from twice as many.
static void begin_round(struct late_barrier *barrier) {
    const int ranks = comm_size(barrier->comm), rank = comm_rank(barrier->comm);
    const int from = (rank - barrier->distance + ranks) % ranks, to = (rank + barrier->distance) % ranks;
    MPI_Irecv(NULL, 0, MPI_BYTE, from, barrier_tag, barrier->comm, &barrier->requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, to, barrier_tag, barrier->comm, &barrier->requests[1]);
}

/// Sends and receives the messages of the first round.
void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm) {
    barrier->comm = comm;
    barrier->distance = 1;
    begin_round(barrier);
}

/// Begins the next round when both messages of this one are complete.
bool late_barrier_test(struct late_barrier *barrier) {
    int complete;
    MPI_Testall(2, barrier->requests, &complete, MPI_STATUSES_IGNORE);
    if (!complete) return false;
    const int ranks = comm_size(barrier->comm);
    barrier->distance *= 2;
    if (barrier->distance >= ranks) return true;
    begin_round(barrier);
    return false;
}
