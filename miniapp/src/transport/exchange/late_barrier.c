/// \file
/// The barrier of MPI 3: a rank enters it and goes on, and asks now and then whether all have come.

#include "transport/exchange/late_barrier.h"

void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm) {
    MPI_Ibarrier(comm, &barrier->requests[0]);
}

bool late_barrier_test(struct late_barrier *barrier) {
    int complete;
    MPI_Test(&barrier->requests[0], &complete, MPI_STATUS_IGNORE);
    return complete;
}
