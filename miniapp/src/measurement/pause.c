#include "measurement/pause.h"

#include "measurement/clock.h"
#include "measurement/simulated.h"
#include <sys/prctl.h>

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
