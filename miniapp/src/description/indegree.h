/// \file
/// The in-degree of the neurons of a projection: how many synapses each of them receives.
///
/// It is the same for all neurons, or a Poisson number that each neuron draws for itself. The latter holds
/// for networks that deal a number of synapses to their neurons at random: there the in-degrees are binomial,
/// which for many neurons is Poisson.
///
/// The largest in-degree that can be drawn bounds the input of a neuron in a step, and so the unit in which
/// weights are expressed (description/fixed_point.h).

#pragma once

#include "description/discrete.h"
#include "description/field_table.h"
#include "description/fields.h"

extern const struct field_table table_of_indegree; ///< the fields of network.projections.*.indegree

/// The distribution of in-degrees of a projection.
struct indegree {
    double mean;            ///< synapses for each neuron
    uint32_t least;         ///< synapses: the fewest that are drawn
    uint32_t most;          ///< synapses: the most that are drawn
    struct discrete *above; ///< synapses above `least`; owned; NULL where all neurons have the same
};

/// Reads the checked field "indegree" of a projection: a number, or {mean, distribution}. Fails for a mean
/// too small to be drawn with 32 bits. Free with indegree_close(), also after a failure.
bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error);
void indegree_close(struct indegree *indegree);

/// Returns the in-degree that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t indegree_draw(const struct indegree *indegree, uint32_t word) {
    return indegree->above ? indegree->least + discrete_draw(indegree->above, word) : indegree->most;
}
