/// \file
/// A clock that somebody sets: loaded before the C library, it adds SPIKEMARK_STEP_S seconds to the system
/// clock from SPIKEMARK_STEP_AFTER_S seconds after the first reading on. Its first reading takes
/// SPIKEMARK_HELD_S seconds, as where a busy host holds the program up.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timespec *time) {
    return (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static double first_s;
    struct timespec now;
    const int status = (int)syscall(SYS_clock_gettime, clock, time);
    if (status != 0 || clock != CLOCK_REALTIME) return status;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    if (first_s == 0) {
        first_s = seconds(&now);
        const char *held = getenv("SPIKEMARK_HELD_S");
        if (held) usleep((useconds_t)(1e6 * atof(held)));
    }
    const char *step = getenv("SPIKEMARK_STEP_S"), *after = getenv("SPIKEMARK_STEP_AFTER_S");
    if (step && after && seconds(&now) - first_s > atof(after)) time->tv_sec += atol(step);
    return status;
}
