/// \file
/// A barrier that a rank enters and completes later, as MPI_Ibarrier is. In the build for SimGrid
/// (SPIKEMARK_SIMULATED) it consists of messages, since in SimGrid's MPI_Ibarrier all ranks but the first go
/// on at once.

#ifndef TRANSPORT_EXCHANGE_LATE_BARRIER_H
#define TRANSPORT_EXCHANGE_LATE_BARRIER_H

#include <mpi.h>
#include <stdbool.h>

struct late_barrier {
    MPI_Comm comm;
    MPI_Request requests[2]; ///< of messages; elsewhere the first is MPI's own
    int distance;            ///< of the ranks that send each other the present messages
    int tag;                 ///< of the messages
};

/// Tells the other ranks that this one has come. Nothing else on `comm` may use `tag`.
void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm, int tag);

/// Tells whether all ranks have entered, and works on it. Not to be called again after it was true.
bool late_barrier_test(struct late_barrier *barrier);

#endif
