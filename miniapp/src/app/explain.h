/// \file
/// What there is to choose from (--list), and what would run (--explain), without running it.

#ifndef APP_EXPLAIN_H
#define APP_EXPLAIN_H

#include "schedule/schedule.h"

/// Prints every registered placement, schedule, exchange and neuron model, a line each.
void explain_list(void);

/// Prints neurons, synapses, memory per rank, lanes and their slack.
void explain_run(const struct description *description, const struct placement *placement,
                 const struct schedule *schedule);

#endif
