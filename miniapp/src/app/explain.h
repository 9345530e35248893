/// \file
/// Explains a run without running it: --explain, as text or as JSON (miniapp/FORMAT.md).

#ifndef APP_EXPLAIN_H
#define APP_EXPLAIN_H

#include "schedule/schedule.h"

/// Prints neurons, synapses, lanes with their slack, and the memory of the ranks, a line each.
void explain_print(const struct description *description, const struct placement *placement,
                   const struct schedule *schedule);

/// Prints the same as one JSON object, in exact numbers and rank by rank.
void explain_print_json(const struct description *description, const struct placement *placement,
                        const struct schedule *schedule);

/// Returns how many events from outside all neurons together receive in a second of simulated time.
double explain_external_events(const struct description *description);

/// Says whether in-degrees are random, so that numbers of synapses are expected ones.
bool explain_synapses_are_expected(const struct network *network);

#endif
