/// \file
/// Energy between two times, in joules, from the readings of a meter that tells energy or power.

#ifndef MEASUREMENT_ENERGY_H
#define MEASUREMENT_ENERGY_H

#include "measurement/sampler.h"

/// A stretch of time, in seconds since the Unix epoch.
struct interval {
    double from_s, to_s;
};

/// Returns the energy of a channel in J. For a cumulative channel this is the difference, interpolated at
/// both ends; for one that tells power (`power`) it is the sum of the trapezoids under it. It is NAN unless
/// there are good readings at or before the begin and at or after the end.
double energy_between(const struct samples *samples, int channel, bool power, struct interval span);

/// Returns how many readings of all channels lie within the span.
size_t energy_readings(const struct samples *samples, struct interval span);

/// Returns the share of the span that lies between two readings of all channels which are at most `gap_s`
/// apart.
double energy_coverage(const struct samples *samples, struct interval span, double gap_s);

#endif
