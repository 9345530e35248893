#include "measurement/simulated.h"

#ifdef SPIKEMARK_SIMULATED

#include <math.h>
#include <smpi/smpi.h>
#include <xbt/config.h>

double simulated_now(void) {
    return MPI_Wtime();
}

void simulated_sleep(double seconds) {
    const time_t whole = (time_t)seconds;
    smpi_nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

void simulated_pass(double seconds) {
    smpi_execute(seconds);
}

bool simulated_check(struct error *error) {
    const double sample_s = 1e-4, threshold_s = sg_cfg_get_double("smpi/cpu-threshold");
    if (sg_cfg_get_boolean("smpi/simulate-computation"))
        return error_set(error, "--cfg=smpi/simulate-computation: yes; allowed: no, with --compute-times");
    if (threshold_s > 0)
        return error_set(error, "--cfg=smpi/cpu-threshold: %g; allowed: 0, with --compute-times",
                         threshold_s);
    const double start_s = simulated_now();
    smpi_execute(sample_s);
    const double passed_s = simulated_now() - start_s;
    if (fabs(passed_s - sample_s) < 0.01 * sample_s) return true;
    return error_set(error,
                     "--cfg=smpi/host-speed: computing for %g s takes %g s; allowed: the speed of the "
                     "platform's hosts, and hosts with a core for each rank",
                     sample_s, passed_s);
}

#else

double simulated_now(void) {
    return 0;
}

void simulated_sleep(double seconds) {
    (void)seconds;
}

void simulated_pass(double seconds) {
    (void)seconds;
}

bool simulated_check(struct error *error) {
    return error_set(error, "--compute-times: only in the build for SimGrid (make simulator)");
}

#endif
