#include "measurement/clock.h"

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
