/// \file
/// Injected waits: additional computing time of known statistics, so that waiting for the slowest rank can be
/// studied on any machine with known truth.
///
/// The wait of a rank in a cycle is mean + rank effect + sd z, times `factor` with probability `share`, and
/// not below 0. Here z is a standard normal autoregressive process of first order with the given correlation
/// from cycle to cycle, and the rank effect is normal with rank_sd. All draws come from the counter-based
/// generator, by seed, rank and cycle. Nothing here reads a clock or waits.

#ifndef RUN_INJECT_H
#define RUN_INJECT_H

#include "description/description.h"

struct inject {
    const struct description *description; ///< borrowed
    uint32_t rank, cycle;                  ///< the next cycle, from the start of the warm-up
    double rank_s;                         ///< mean + rank effect
    double z;
    bool active;
};

/// Opens the waits of a rank, from the first cycle of the warm-up on. Nothing needs to be closed.
struct inject inject_open(const struct description *description, int rank);

/// Returns the seconds to wait in the next cycle.
double inject_next(struct inject *inject);

#endif
