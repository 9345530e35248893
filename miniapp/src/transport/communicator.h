/// \file
/// Ranks of a communicator: who they are, errors that they agree upon, and counts that MPI can take.
///
/// MPI counts in int. What could be larger is checked here, so that a run ends with one line instead of
/// wrong data.

#pragma once

#include "base/error.h"
#include <mpi.h>
#include <stdint.h>

/// Returns the number of this process in a communicator.
static inline int comm_rank(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/// Returns the number of processes in a communicator.
static inline int comm_size(MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

/// Lets all ranks agree on whether there is an error, so that all end alike and one line is printed: all take
/// over the error of the lowest rank that has one. Collective. \return whether there is none.
bool agree(MPI_Comm comm, struct error *error);

/// Returns the number as an int, as MPI takes counts. Where it is too large, the program ends (fatal()) with
/// one line that says `what` is counted.
int mpi_count(uint64_t number, const char *what);

/// Returns the sum of n counts, none of which is negative.
uint64_t mpi_sum(const int *count, int n);

/// Places n blocks of that many items one after the other; start[i] becomes the place of block i. Where the
/// blocks together are too large, the program ends as by mpi_count(). \return the sum.
uint64_t mpi_starts(const int *count, int n, int *start, const char *what);
