/// \file
/// The routes of the only rank of a dry run. In a run, the other ranks tell it which of its neurons they want
/// (transport/routes.h). Here this is found out without them.
///
/// Exactly: the sources of the synapses of the other ranks are drawn again, one rank after the other, into a
/// bit for each neuron of the network and lane. That takes a draw for each synapse of the network. Or at
/// random: a rank has a list of a neuron with the probability that a draw of one of its synapses hits the
/// neuron, for each pair apart. Then the numbers of lists there are not known, and words that leave name the
/// neuron instead.

#ifndef RUN_DRY_ROUTES_H
#define RUN_DRY_ROUTES_H

#include "run/build.h"

/// Opens the routes of all lanes, and the searches of those that broadcast. `wanted` [lanes] are the lists of
/// this rank, `own_gids` the ids of its neurons in their order.
void dry_routes_open(struct model *model, const struct wanted *wanted, const uint32_t *own_gids, bool exact);

#endif
