/// \file
/// Waiting for a given time.

#ifndef MEASUREMENT_PAUSE_H
#define MEASUREMENT_PAUSE_H

#include <stdbool.h>

/// Waits for `seconds`, spinning or asleep. Asleep, the thread asks the system for the shortest timer slack,
/// and is late by what waking up takes. In simulated time both are exact and cost nothing.
void pause_for(double seconds, bool asleep);

#endif
