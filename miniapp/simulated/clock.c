/// \file
/// The clocks of a machine that SimGrid simulates: MPI_Wtime() shows its time, and waiting costs nothing.
/// How long the kernels take is either measured by SMPI or told by calls of clock_pass().

#include "measurement/clock.h"

#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <time.h>

/// Returns the simulated time.
double clock_now(void) {
    return MPI_Wtime();
}

/// There is no counter of a processor here.
bool clock_counts(void) {
    return false;
}

const char *clock_name(void) {
    return "simulated time";
}

/// Returns simulated nanoseconds.
uint64_t clock_ticks(bool counts) {
    (void)counts;
    return (uint64_t)(1e9 * clock_now());
}

/// Returns what reading the simulated clock costs in its own time.
double clock_cost(void) {
    enum { reads = 2000 };
    const bool counts = clock_counts();
    volatile uint64_t last = clock_ticks(counts);
    double start = clock_now();
    for (int i = 0; i < reads; i++) last = clock_ticks(counts);
    (void)last;
    return (clock_now() - start) / reads;
}

double clock_ahead(void) {
    return NAN; // simulated time has no date
}

/// Spinning and sleeping are the same here, and exact.
void pause_for(double seconds, bool asleep) {
    (void)asleep;
    if (seconds <= 0) return;
    const time_t whole = (time_t)seconds;
    smpi_nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

/// Lets the rank compute for so long.
void clock_pass(double seconds) {
    smpi_execute(seconds);
}
