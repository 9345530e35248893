/// \file
/// The clocks of a real machine.
///
/// clock_ticks() reads the time stamp counter of x86 where it runs evenly in all states of the processor,
/// which the processor itself says, and else the monotonic clock. A tick is not a second: run/phase_timer.c
/// reads both clocks at both ends of the measured part and scales ticks afterwards, so that no frequency has
/// to be known.
///
/// Counters of different processors of a node agree where they are invariant; those of nodes need not, so
/// times are only ever differences on one rank.

#include "measurement/clock.h"

#include <math.h>
#include <sys/prctl.h>
#include <time.h>

// Leaf 0x80000007 of CPUID has a bit that says whether the counter is invariant.
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#define CLOCK_COUNTER()                   __rdtsc()
#define CLOCK_COUNTER_IS_EVEN(a, b, c, d) (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1))
#else
#define CLOCK_COUNTER()                   0
#define CLOCK_COUNTER_IS_EVEN(a, b, c, d) (a = b = c = d = 0)
#endif

// CLOCK_MONOTONIC goes on where somebody sets the system clock, and is slowed or sped up by NTP at most by
// 500 ppm.
double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Asks the processor each time (CPUID), which is slow: callers keep the answer.
bool clock_counts(void) {
    unsigned a, b, c, d;
    return CLOCK_COUNTER_IS_EVEN(a, b, c, d);
}

const char *clock_name(void) {
    return clock_counts() ? "time stamp counter" : "clock_gettime";
}

// `counts` is passed on rather than asked for: this is called at the end of every phase.
uint64_t clock_ticks(bool counts) {
    struct timespec now;
    if (counts) return CLOCK_COUNTER();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double clock_cost(void) {
    enum { reads = 2000 }; // many, so that the two readings of clock_now() do not count
    const bool counts = clock_counts();
    // Volatile, so that no reading is left out.
    volatile uint64_t last = clock_ticks(counts);
    double start = clock_now();
    for (int i = 0; i < reads; i++) last = clock_ticks(counts);
    (void)last;
    return (clock_now() - start) / reads;
}

double clock_ahead(void) {
    // Each system time is read between two readings of the monotonic clock; the narrowest pair counts.
    enum { readings = 10 }; // a busy host seldom interrupts ten times in a row
    double ahead_s = NAN, least_s = INFINITY;
    for (int i = 0; i < readings; i++) {
        struct timespec now;
        const double before_s = clock_now();
        clock_gettime(CLOCK_REALTIME, &now);
        const double after_s = clock_now();
        if (after_s - before_s >= least_s) continue;
        least_s = after_s - before_s;
        ahead_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - (before_s + after_s) / 2;
    }
    return ahead_s;
}

// Spinning ends at the first reading beyond the time; sleeping is exact to the timer of the kernel.
void pause_for(double seconds, bool asleep) {
    // An absolute time, so that waking up early does not add up.
    if (asleep) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        double end = 1e-9 * (double)until.tv_nsec + seconds;
        until.tv_sec += (time_t)end;
        until.tv_nsec = (long)(1e9 * (end - (double)(time_t)end));
        // Without it the kernel may add 50 us to every sleep, to wake up for several timers at once.
        prctl(PR_SET_TIMERSLACK, 1UL);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
        }
    } else {
        const double end = clock_now() + seconds;
        while (clock_now() < end) {
        }
    }
}

void clock_pass(double seconds) {
    (void)seconds; // a real rank computes instead
}
