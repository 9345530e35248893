/// \file
/// Energy between two times, in joules, from the readings of a meter that tells energy or power.

#ifndef MEASUREMENT_ENERGY_H
#define MEASUREMENT_ENERGY_H

#include "measurement/sampler.h"

/// A stretch of time, seconds since the Unix epoch.
struct interval {
    double from_s, to_s;
};

/// Energy of a channel in J: the difference of a cumulative one, interpolated at both ends, or the trapezoids
/// under one that is power (`power`). NAN unless there are good readings at or before the begin and at or
/// after the end.
double energy_between(const struct samples *samples, int channel, bool power, struct interval span);

/// Readings of all channels within the span.
size_t energy_readings(const struct samples *samples, struct interval span);

/// Share of the span that lies between two readings of all channels at most `gap_s` apart.
double energy_coverage(const struct samples *samples, struct interval span, double gap_s);

#endif
