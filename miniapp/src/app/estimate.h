/// \file
/// The memory that a rank will need, from the description alone.

#ifndef APP_ESTIMATE_H
#define APP_ESTIMATE_H

#include "schedule/schedule.h"

/// Bytes by part, as build_bytes() finds them afterwards; lists and routes by expectation over the random
/// sources.
struct estimate {
    double neurons, synapses, lists, routes, ring, buffers;
};

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank);

double estimate_sum(const struct estimate *estimate);

#endif
