/// \file
/// Waits for a given time.

#ifndef MEASUREMENT_PAUSE_H
#define MEASUREMENT_PAUSE_H

#include <stdbool.h>

/// Waits for `seconds`, spinning or asleep. When asleep, the thread asks the system for the shortest timer
/// slack, and is late by the time that waking up takes. In simulated time both are exact and cost nothing.
void pause_for(double seconds, bool asleep);

#endif
