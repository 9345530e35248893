/// \file
/// How many sources and synapses a rank is expected to have in each lane, before any of them is drawn.

#pragma once

#include "description/network.h"
#include "schedule/lane_plan.h"

/// Finds, for a rank that has own[population] neurons, the synapses that it
/// has in each lane, and the logarithm of the probability that none of them comes from a certain neuron of a
/// population. \param synapses [lanes] are added to. \param log_missed [lanes][populations] is added to; 0:
/// there is no such synapse.
void lane_sources_expect(const struct schedule *schedule, const struct network *network, const double *own,
                         double *synapses, double *log_missed);
