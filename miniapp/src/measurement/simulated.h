/// \file
/// Simulated time. In the build for SimGrid (SPIKEMARK_SIMULATED) all ranks are actors of one process, clocks
/// and sleeping are those of the simulated cluster, and what the kernels take is either measured by SMPI or
/// said by whoever calls simulated_pass(). In other builds the functions do nothing.

#ifndef MEASUREMENT_SIMULATED_H
#define MEASUREMENT_SIMULATED_H

#include "base/error.h"

/// Whether the clocks of this build show simulated time.
#ifdef SPIKEMARK_SIMULATED
enum { time_is_simulated = true };
#else
enum { time_is_simulated = false };
#endif

/// Seconds since the simulation began.
double simulated_now(void);

/// Lets simulated time pass on the calling rank, asleep or as if it computed.
/// \param seconds above 0.
void simulated_sleep(double seconds);
void simulated_pass(double seconds);

/// Refuses settings of the simulator with which not exactly the time given to simulated_pass() would pass, or
/// that of the kernels would be added; in other builds refuses always.
bool simulated_check(struct error *error);

#endif
