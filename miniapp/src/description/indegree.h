/// \file
/// The in-degree of the neurons of a projection: how many synapses each of them receives.
///
/// It is the same for all neurons, or a Poisson number that each neuron draws for itself. The latter holds
/// for networks that deal a number of synapses to their neurons at random: there the in-degrees are binomial,
/// which for many neurons is Poisson.

#ifndef DESCRIPTION_INDEGREE_H
#define DESCRIPTION_INDEGREE_H

#include "description/discrete.h"
#include "description/json_fields.h"

struct indegree {
    double mean;
    uint32_t least, most;   ///< only these and what lies between is drawn
    struct discrete *above; ///< what is drawn above `least`; NULL where all neurons have the same
};

/// Reads the field "indegree" of a projection: a number, or {mean, distribution}. Free with indegree_close().
bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error);
void indegree_close(struct indegree *indegree);

/// Returns the in-degree that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t indegree_draw(const struct indegree *indegree, uint32_t word) {
    return indegree->above ? indegree->least + discrete_draw(indegree->above, word) : indegree->most;
}

#endif
