/// \file
/// The clock: seconds from an arbitrary start, monotonic.

#ifndef MEASUREMENT_CLOCK_H
#define MEASUREMENT_CLOCK_H

#include <time.h>

static inline double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Seconds that one clock_now() takes, as the mean over many.
static inline double clock_cost(void) {
    enum { reads = 2000 };
    double first = clock_now(), last = first;
    for (int i = 0; i < reads; i++) last = clock_now();
    return (last - first) / reads;
}

#endif
