/// \file
/// Checks, before anything large is allocated, that 32-bit numbers can hold the share of a rank. Each check
/// fails with one line that names the field and what is allowed.

#ifndef RUN_LIMITS_H
#define RUN_LIMITS_H

#include "run/build.h"

/// Refuses threads that have more synapses from a neuron, or more spikes in a cycle, than can be counted, and
/// synapses that cannot be packed. Of `model` it needs the description, the placement, the rank, the threads
/// and the weights.
bool limits_check_share(const struct model *model, struct error *error);

/// Refuses a broadcast whose words cannot name every neuron of the rank beside the step. By then the lanes
/// are connected and the neurons counted.
bool limits_check_lanes(const struct model *model, struct error *error);

/// Refuses so many lists of a rank in a lane where a four-byte spike cannot name them beside its step, and
/// says which windows would do.
bool limits_check_words(const struct lane_plan *plan, const struct description *description, uint64_t lists,
                        struct error *error);

#endif
