/// \file
/// Routes: to which ranks the spikes of a neuron go in a lane, and which synapse list they name there.
///
/// The receivers decide. Each rank knows the sources of its synapses and numbers the lists of a lane, with
/// the sources ordered by owner and then by id. It tells every owner, once, which neurons it wants and the
/// number of the first of their lists. So the owner knows for each spike which ranks need it, and sends one
/// word to each.

#ifndef TRANSPORT_ROUTES_H
#define TRANSPORT_ROUTES_H

#include "base/error.h"
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The lists of one rank in one lane, as it wants them from the owners of their sources.
struct wanted {
    uint32_t *gids;      ///< [lists] source of each list
    uint32_t *per_owner; ///< [ranks] how many of them each rank of the lane owns
};

struct route {
    int rank;      ///< destination in the lane's outbox: a rank of its communicator, or 0 for a broadcast
    uint32_t list; ///< number of the neuron's list there; for a broadcast, its own number on this rank
};

struct routes {
    uint32_t neurons;
    size_t *first; ///< [neurons + 1] routes of neuron i are route[first[i]] up to route[first[i + 1]]
    struct route *route;
    bool *target;     ///< [ranks of the communicator] whether any neuron has a list there
    uint32_t *number; ///< [lists] for a broadcast: numbers of the lists' sources on their ranks; else NULL
};

/// Opens the routes. Collective over `comm`. `own_gids` are the ids of the `n` neurons of this rank, in the
/// order in which the lane will number its spikes. With `broadcast`, a neuron has one route if any rank has a
/// list of it. Fails, on all ranks alike, where routes_check() refuses. Close the routes in any case.
bool routes_open(struct routes *routes, MPI_Comm comm, const struct wanted *wanted, const uint32_t *own_gids,
                 uint32_t n, bool broadcast, struct error *error);

/// Refuses requests, requests[rank] from each rank, whose sum is more than MPI can count.
bool routes_check(const int *requests, int ranks, struct error *error);

size_t routes_bytes(const struct routes *routes);
void routes_close(struct routes *routes);

#endif
