/// \file
/// Expected numbers of synapses of a rank, lane by lane, before any of them is drawn.

#ifndef SCHEDULE_LANE_SOURCES_H
#define SCHEDULE_LANE_SOURCES_H

#include "schedule/schedule.h"

/// Finds, for a rank that has own[population] neurons, the synapses that it has in each lane, and the
/// logarithm of the probability that none of them comes from a certain neuron of a population. A Poisson
/// number of draws with mean K all miss a neuron with probability exp(-K hit), where a draw hits it with
/// probability `hit`.
/// \param synapses [lanes] are added to.
/// \param log_missed [lanes][populations] is added to; 0: there is no such synapse.
void lane_sources_expect(const struct schedule *schedule, const struct network *network, const double *own,
                         double *synapses, double *log_missed);

#endif
