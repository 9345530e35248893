/// \file
/// Agreement between ranks, and sums of counts that are checked against what an int holds. One reduction,
/// and a broadcast where there is an error.

#include "transport/communicator.h"

#include "base/fatal.h"

#include <limits.h>

int mpi_count(uint64_t number, const char *what) {
    // Counts above that would wrap around silently in MPI.
    if (number <= INT_MAX) return (int)number;
    fatal("exchange: %llu %s; expected at most %d, which MPI can count, so take shorter windows, fewer "
          "ranks or another exchange",
          (unsigned long long)number, what, INT_MAX);
}

uint64_t mpi_sum(const int *count, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) sum += (uint64_t)count[i];
    return sum;
}

uint64_t mpi_starts(const int *count, int n, int *start, const char *what) {
    const uint64_t sum = mpi_sum(count, n);
    mpi_count(sum, what);
    for (int i = 0, at = 0; i < n; at += count[i++]) start[i] = at;
    return sum;
}

bool agree(MPI_Comm comm, struct error *error) {
    // Two small collectives at most, and only one where all is well.
    int first;
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    // The lowest rank that has an error; as many as there are ranks if none has.
    int mine = error_stands(error) ? rank : ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first < ranks) MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, first, comm);
    return first == ranks;
}
