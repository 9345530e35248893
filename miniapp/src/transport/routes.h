/// \file
/// Routes: to which ranks the spikes of a neuron go in a lane, and which list they name there.
///
/// The receivers decide. Each rank knows the sources of its synapses, and numbers the lists of a lane by the
/// ids of their sources (transport/source_table.h). It tells every owner, once, which neurons it wants and
/// the numbers of their lists. So the owner knows for each spike which ranks need it, and sends one word to
/// each. They tell each other in rounds, so that what is on its way at a time is small beside the routes.
///
/// A small example, of a lane of three ranks. Rank 1 has synapses from neurons 7 and 9, rank 2 from neuron 9.
/// Both neurons are on rank 0.
///
///     lists of rank 1: 0 = neuron 7, 1 = neuron 9
///     lists of rank 2: 0 = neuron 9
///     routes of neuron 7: (rank 1, list 0)
///     routes of neuron 9: (rank 1, list 1), (rank 2, list 0)
///
/// When neuron 9 fires, rank 0 adds one word to the part of rank 1 and one to that of rank 2. All threads of
/// a receiver look at each word; those that have no synapse of the list find it empty.

#pragma once

#include "transport/search.h"
#include "transport/source_table.h"
#include <mpi.h>
#include <stdbool.h>

/// Where one spike goes: a rank, and the list that it names there.
struct route {
    int rank; ///< destination in the lane's send buffer: a rank of its communicator, or 0 for a broadcast
    uint32_t list; ///< number of the neuron's list there; for a broadcast, its own number on this rank
};

/// All routes of a rank in a lane, neuron by neuron.
struct routes {
    uint32_t neurons;    ///< of this rank
    size_t *first;       ///< [neurons + 1] routes of neuron i are route[first[i]] up to route[first[i + 1]]
    struct route *route; ///< [first[neurons]] owned, as all here
    bool *target;        ///< [ranks of the communicator] whether any neuron has a list there
};

/// Opens the routes. Collective over `comm`. `own_gids` are the ids of the `n` neurons of this rank, in the
/// order in which the lane will number its spikes. With a `search`, spikes are broadcast: a neuron has one
/// route if any rank has a list of it, and the search is opened, too.
void routes_open(struct routes *routes, struct search *search, MPI_Comm comm,
                 const struct source_table *table, const uint32_t *own_gids, uint32_t n);

/// Returns in how many rounds requests are made where a rank has at most `most` lists or routes.
uint64_t routes_rounds(uint64_t most);

/// Returns the bytes of the routes of this rank.
size_t routes_bytes(const struct routes *routes);
/// Frees them. Routes that were set to zero may be closed, too.
void routes_close(struct routes *routes);
