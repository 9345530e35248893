/// \file
/// The lists of one rank in one lane, and which ranks own their sources.

#pragma once

#include "base/id_set.h"
#include "description/placement.h"
#include "transport/search.h"
#include <mpi.h>

struct wanted {
    struct id_set sources; ///< of the lists; a list has the number of its source in the set
    uint64_t lists;
    uint32_t *per_owner; ///< [ranks of the lane] how many of them each rank owns
    const struct placement *placement;
    const int *place; ///< [ranks of the world] number of a rank in the lane; borrowed, as the placement
};

/// Opens it with an empty set of ids in buckets of 2^bits. Fill the set, then call wanted_number().
void wanted_open(struct wanted *wanted, const struct placement *placement, const int *place, int ranks,
                 unsigned bits);
void wanted_close(struct wanted *wanted);

void wanted_number(struct wanted *wanted);

/// Goes through the lists in the order of their numbers.
struct wanted_cursor {
    const struct wanted *wanted;
    struct id_cursor ids;
    const struct deal *deal; ///< of the last source
};

static inline struct wanted_cursor wanted_from(const struct wanted *wanted, uint64_t list) {
    return (struct wanted_cursor){wanted, id_set_from(&wanted->sources, list), wanted->placement->deals};
}

/// Moves to the next list. \return the id of its source; `owner` becomes the number in the lane of its rank.
static inline uint32_t wanted_next(struct wanted_cursor *cursor, int *owner) {
    const uint32_t gid = id_set_next(&cursor->ids);
    while (gid >= cursor->deal->end) cursor->deal++;
    *owner = cursor->wanted->place[deal_rank(cursor->deal, gid)];
    return gid;
}

// -------------------- routes
// Routes: to which ranks the spikes of a neuron go in a lane, and which synapse list they name there.
//
// The receivers decide. Each rank knows the sources of its synapses, and numbers the lists of a lane by the
// ids of their sources. It tells every owner, once, which neurons it wants and the numbers of their lists.
// So the owner knows for each spike which ranks need it, and sends one word to each.
//
// They tell each other in rounds, so that what is on its way at a time is small beside the routes.

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
/// route if any rank has a list of it, and the search is opened, too.
void routes_open(struct routes *routes, struct search *search, MPI_Comm comm, const struct wanted *wanted,
                 const uint32_t *own_gids, uint32_t n);

/// Returns in how many rounds requests are made where a rank has at most `most` lists or routes.
uint64_t routes_rounds(uint64_t most);

size_t routes_bytes(const struct routes *routes);
void routes_close(struct routes *routes);
