#include "transport/exchange/late_barrier.h"

#ifdef SPIKEMARK_SIMULATED

// The dissemination barrier (Hensgen, Finkel and Manber 1988): in each round a rank hears from twice as many.
static void begin_round(struct late_barrier *barrier) {
    int ranks, rank;
    MPI_Comm_size(barrier->comm, &ranks);
    MPI_Comm_rank(barrier->comm, &rank);
    const int from = (rank - barrier->distance + ranks) % ranks, to = (rank + barrier->distance) % ranks;
    MPI_Irecv(NULL, 0, MPI_BYTE, from, barrier->tag, barrier->comm, &barrier->requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, to, barrier->tag, barrier->comm, &barrier->requests[1]);
}

void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm, int tag) {
    barrier->comm = comm;
    barrier->distance = 1;
    barrier->tag = tag;
    begin_round(barrier);
}

bool late_barrier_test(struct late_barrier *barrier) {
    int complete, ranks;
    MPI_Testall(2, barrier->requests, &complete, MPI_STATUSES_IGNORE);
    if (!complete) return false;
    MPI_Comm_size(barrier->comm, &ranks);
    barrier->distance *= 2;
    if (barrier->distance >= ranks) return true;
    begin_round(barrier);
    return false;
}

#else

void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm, int tag) {
    *barrier = (struct late_barrier){.comm = comm, .distance = 1, .tag = tag};
    MPI_Ibarrier(comm, &barrier->requests[0]);
}

bool late_barrier_test(struct late_barrier *barrier) {
    int complete;
    MPI_Test(&barrier->requests[0], &complete, MPI_STATUS_IGNORE);
    return complete;
}

#endif
