/// \file
/// Counts as MPI takes them: an int, also where a machine has ranks and memory for more than an int can hold.

#ifndef TRANSPORT_MPI_COUNT_H
#define TRANSPORT_MPI_COUNT_H

#include <stdint.h>

/// The number as an int. Where it is too large the program ends with one line about `what` is counted and
/// status 1, as alloc() ends it: the other ranks are waiting, and no caller could go on.
int mpi_count(uint64_t number, const char *what);

/// The sum of n counts, none of them negative.
uint64_t mpi_sum(const int *count, int n);

/// Places n blocks of that many items one after the other: start[i] is the place of block i. Ends the program
/// where they are together too many, as mpi_count() does. \return the sum.
uint64_t mpi_starts(const int *count, int n, int *start, const char *what);

#endif
