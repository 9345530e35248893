/// \file
/// Simulated time. In the build for SimGrid (SPIKEMARK_SIMULATED) all ranks are actors of one process, and
/// clocks and sleep are those of the simulated cluster. How long the kernels take is either measured by SMPI
/// or told by calls of simulated_pass(). In other builds the functions do nothing.

#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/// Says whether the clocks of this build show simulated time.
#ifdef SPIKEMARK_SIMULATED
enum { time_is_simulated = true };
double simulated_now(void); ///< seconds since the simulation began
void simulated_pass(double seconds);
#else
enum { time_is_simulated = false };
static inline double simulated_now(void) {
    return 0;
}

static inline void simulated_pass(double seconds) {
    (void)seconds;
}
#endif

// -------------------- clock
// Two clocks: one in seconds, and one in ticks that costs less to read, for the seams of a cycle.
//
// In simulated time both show that time, from 0 on. Otherwise ticks are those of the processor's time stamp
// counter where it runs evenly in all states (x86 with an invariant counter), and nanoseconds of the
// monotonic clock elsewhere. How long a tick lasts follows from reading both clocks at both ends of what is
// measured.

#if defined(__x86_64__) && !defined(SPIKEMARK_SIMULATED)
#include <cpuid.h>
#include <x86intrin.h>
#define CLOCK_COUNTER()                   __rdtsc()
#define CLOCK_COUNTER_IS_EVEN(a, b, c, d) (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1))
#else
#define CLOCK_COUNTER()                   0
#define CLOCK_COUNTER_IS_EVEN(a, b, c, d) (a = b = c = d = 0)
#endif

/// Returns the seconds from an arbitrary start, which never run backwards.
static inline double clock_now(void) {
    struct timespec now;
    if (time_is_simulated) return simulated_now();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Returns by how many seconds the system clock is ahead of clock_now(), for comparison with the clocks of
/// others: added to any reading of clock_now(), it gives the seconds since the Unix epoch. So the differences
/// of such times are intervals, even if somebody sets the system clock in between. Of several readings the
/// shortest counts, since a busy host may hold the program up between the two clocks. It is NAN in simulated
/// time, which has no date.
double clock_ahead(void);

/// Says whether ticks are those of the processor's counter.
static inline bool clock_counts(void) {
    unsigned a, b, c, d;
    return CLOCK_COUNTER_IS_EVEN(a, b, c, d);
}

/// Names, for the record, what clock_ticks() reads.
static inline const char *clock_name(void) {
    if (time_is_simulated) return "simulated time";
    return clock_counts() ? "time stamp counter" : "clock_gettime";
}

/// Returns the ticks from an arbitrary start; `counts` is what clock_counts() says.
static inline uint64_t clock_ticks(bool counts) {
    struct timespec now;
    if (time_is_simulated) return (uint64_t)(1e9 * simulated_now());
    if (counts) return CLOCK_COUNTER();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/// Returns the seconds that one clock_ticks() takes, as a mean over many.
static inline double clock_cost(void) {
    enum { reads = 2000 };
    const bool counts = clock_counts();
    volatile uint64_t last = clock_ticks(counts);
    double start = clock_now();
    for (int i = 0; i < reads; i++) last = clock_ticks(counts);
    (void)last;
    return (clock_now() - start) / reads;
}

// -------------------- pause

/// Waits for `seconds`, spinning or asleep. When asleep, the thread asks the system for the shortest timer
/// slack, and is late by the time that waking up takes. In simulated time both are exact and cost nothing.
void pause_for(double seconds, bool asleep);
