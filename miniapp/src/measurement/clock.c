#include "measurement/clock.h"

#include <sys/prctl.h>

#ifdef SPIKEMARK_SIMULATED

#include <math.h>
#include <smpi/smpi.h>

double simulated_now(void) {
    return MPI_Wtime();
}

/// Lets simulated time pass on the calling rank, asleep or as if it computed.
/// \param seconds above 0.
static void simulated_sleep(double seconds) {
    const time_t whole = (time_t)seconds;
    smpi_nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

void simulated_pass(double seconds) {
    smpi_execute(seconds);
}

#else

static void simulated_sleep(double seconds) {
    (void)seconds;
}

#endif

double clock_ahead(void) {
    enum { readings = 10 };
    double ahead_s = NAN, least_s = INFINITY;
    if (time_is_simulated) return NAN;
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

void pause_for(double seconds, bool asleep) {
    if (time_is_simulated) {
        if (seconds > 0) simulated_sleep(seconds);
    } else if (asleep) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        double end = 1e-9 * (double)until.tv_nsec + seconds;
        until.tv_sec += (time_t)end;
        until.tv_nsec = (long)(1e9 * (end - (double)(time_t)end));
        prctl(PR_SET_TIMERSLACK, 1UL);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
        }
    } else {
        const double end = clock_now() + seconds;
        while (clock_now() < end) {
        }
    }
}
