#include "measurement/clock.h"

double clock_ahead(void) {
    struct timespec now;
    if (time_is_simulated) return NAN;
    const double before = clock_now();
    clock_gettime(CLOCK_REALTIME, &now);
    const double date = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return date - (before + clock_now()) / 2;
}
