/// \file
/// Routes: to which ranks the spikes of a neuron go in a lane, and which synapse list they name there.
///
/// The receivers decide. Each rank knows the sources of its synapses, and numbers the lists of a lane by the
/// ids of their sources. It tells every owner, once, which neurons it wants and the numbers of their lists.
/// So the owner knows for each spike which ranks need it, and sends one word to each.
///
/// They tell each other in rounds, so that what is on its way at a time is small beside the routes.

#ifndef TRANSPORT_ROUTES_H
#define TRANSPORT_ROUTES_H

#include "base/error.h"
#include "transport/search.h"
#include "transport/wanted.h"
#include <mpi.h>
#include <stdbool.h>

struct route {
    int rank;      ///< destination in the lane's outbox: a rank of its communicator, or 0 for a broadcast
    uint32_t list; ///< number of the neuron's list there; for a broadcast, its own number on this rank
};

struct routes {
    uint32_t neurons;
    size_t *first; ///< [neurons + 1] routes of neuron i are route[first[i]] up to route[first[i + 1]]
    struct route *route;
    bool *target; ///< [ranks of the communicator] whether any neuron has a list there
};

/// Opens the routes. Collective over `comm`. `own_gids` are the ids of the `n` neurons of this rank, in the
/// order in which the lane will number its spikes. With a `search`, spikes are broadcast: a neuron has one
/// route if any rank has a list of it, and the search is opened, too. Fails, on all ranks alike, where
/// routes_check() refuses. Close the routes and the search in any case.
bool routes_open(struct routes *routes, struct search *search, MPI_Comm comm, const struct wanted *wanted,
                 const uint32_t *own_gids, uint32_t n, struct error *error);

/// Refuses requests, requests[rank] words from each rank in a round, whose sum is more than MPI can count.
bool routes_check(const int *requests, int ranks, struct error *error);

/// Returns in how many rounds requests are made where a rank has at most `most` lists or routes.
uint64_t routes_rounds(uint64_t most);

size_t routes_bytes(const struct routes *routes);
void routes_close(struct routes *routes);

#endif
