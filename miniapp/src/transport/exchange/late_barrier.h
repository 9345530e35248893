/// \file
/// A barrier that a rank enters and completes later, as MPI_Ibarrier is. In the build for SimGrid it consists
/// of messages (simulated/late_barrier.c, chosen when linking).

#pragma once

#include <mpi.h>
#include <stdbool.h>

/// A barrier under way.
struct late_barrier {
    MPI_Comm comm;           ///< of the ranks; borrowed
    MPI_Request requests[2]; ///< of messages; elsewhere the first is MPI's own
    int distance;            ///< of the ranks that send each other the present messages
};

/// Tells the other ranks that this one has come.
void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm);

/// Says whether all ranks have entered, and works on it. Not to be called again after it was true.
bool late_barrier_test(struct late_barrier *barrier);
