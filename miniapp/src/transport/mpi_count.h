/// \file
/// Counts as MPI takes them: as an int, also where a machine has ranks and memory for more than an int can
/// hold.

#ifndef TRANSPORT_MPI_COUNT_H
#define TRANSPORT_MPI_COUNT_H

#include <stdint.h>

/// Returns the number as an int. Where it is too large, the program ends with status 1 and one line that says
/// `what` is counted. It ends as alloc() ends it, since the other ranks are waiting and no caller could go
/// on.
int mpi_count(uint64_t number, const char *what);

/// Returns the sum of n counts, none of which is negative.
uint64_t mpi_sum(const int *count, int n);

/// Places n blocks of that many items one after the other; start[i] becomes the place of block i. Where the
/// blocks together are too large, the program ends as by mpi_count(). \return the sum.
uint64_t mpi_starts(const int *count, int n, int *start, const char *what);

#endif
