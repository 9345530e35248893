#include "transport/mpi_count.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int mpi_count(uint64_t number, const char *what) {
    if (number <= INT_MAX) return (int)number;
    fprintf(stderr,
            "miniapp: exchange: %llu %s; allowed: at most %d, which MPI can count, so take shorter windows, "
            "fewer ranks or another exchange\n",
            (unsigned long long)number, what, INT_MAX);
    _exit(1); // not exit(), since other threads are at work
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
