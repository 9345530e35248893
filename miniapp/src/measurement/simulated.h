/// \file
/// Simulated time. In the build for SimGrid (SPIKEMARK_SIMULATED) all ranks are actors of one process, and
/// clocks and sleep are those of the simulated cluster. How long the kernels take is either measured by SMPI
/// or told by calls of simulated_pass(). In other builds the functions do nothing.

#ifndef MEASUREMENT_SIMULATED_H
#define MEASUREMENT_SIMULATED_H

#include "base/error.h"

/// Says whether the clocks of this build show simulated time.
#ifdef SPIKEMARK_SIMULATED
enum { time_is_simulated = true };
#else
enum { time_is_simulated = false };
#endif

/// Returns the seconds since the simulation began.
double simulated_now(void);

/// Lets simulated time pass on the calling rank, asleep or as if it computed.
/// \param seconds above 0.
void simulated_sleep(double seconds);
void simulated_pass(double seconds);

/// Refuses settings of the simulator with which other times would pass than those given to simulated_pass(),
/// or with which those of the kernels would be added. In other builds it always refuses.
bool simulated_check(struct error *error);

#endif
