/// \file
/// Estimates the memory that a rank will need from the description alone.

#ifndef APP_ESTIMATE_H
#define APP_ESTIMATE_H

#include "schedule/schedule.h"

/// The bytes of each part, as build_bytes() finds them afterwards. Lists and routes are expectations over the
/// random sources.
struct estimate {
    double neurons, synapses, lists, routes, ring, buffers;
};

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank);

double estimate_sum(const struct estimate *estimate);

#endif
