#include "measurement/clock.h"

/// Returns how far the system clock is ahead of clock_now().
static double ahead(void) {
    struct timespec now;
    const double before = clock_now();
    clock_gettime(CLOCK_REALTIME, &now);
    const double date = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return date - (before + clock_now()) / 2;
}

/// Returns how far it was ahead when the program started.
static double ahead_at_start(void) {
    static double seconds = NAN; // set once, before main()
    if (isnan(seconds)) seconds = ahead();
    return seconds;
}

__attribute__((constructor)) static void start(void) {
    if (!time_is_simulated) ahead_at_start();
}

double clock_epoch(void) {
    return time_is_simulated ? NAN : ahead_at_start() + clock_now();
}

double clock_step(void) {
    return time_is_simulated ? NAN : ahead() - ahead_at_start();
}
