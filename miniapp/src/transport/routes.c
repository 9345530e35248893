#include "transport/routes.h"

#include "base/alloc.h"
#include "transport/agree.h"
#include "transport/mpi_count.h"
#include <limits.h>
#include <stdlib.h>

/// What the other ranks want from this one: [total] ids, ordered by the rank that wants them.
struct requests {
    uint32_t *gids;
    int *count, *first_list; ///< [ranks]
    size_t total;
};

static int *starts(const int *count, int ranks) {
    int *start = ALLOC(int, (size_t)ranks);
    mpi_starts(count, ranks, start, "synapse lists");
    return start;
}

bool routes_check(const int *requests, int ranks, struct error *error) {
    const uint64_t total = mpi_sum(requests, ranks);
    if (total <= INT_MAX) return true;
    return error_set(error,
                     "network: %llu routes from the neurons of a rank; allowed: at most %d, which MPI can "
                     "count, so take more ranks",
                     (unsigned long long)total, INT_MAX);
}

/// Collects what the other ranks want. Collective. \return requests without ids where some rank refuses them.
static struct requests exchange_requests(MPI_Comm comm, int ranks, const struct wanted *wanted,
                                         struct error *error) {
    struct requests requests = {.count = ALLOC(int, (size_t)ranks), .first_list = ALLOC(int, (size_t)ranks)};
    int *asked = ALLOC(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) asked[rank] = (int)wanted->per_owner[rank];
    int *asked_start = starts(asked, ranks);
    MPI_Alltoall(asked, 1, MPI_INT, requests.count, 1, MPI_INT, comm);
    MPI_Alltoall(asked_start, 1, MPI_INT, requests.first_list, 1, MPI_INT, comm);

    routes_check(requests.count, ranks, error);
    if (agree(comm, error)) {
        int *start = starts(requests.count, ranks);
        requests.total = mpi_sum(requests.count, ranks);
        requests.gids = ALLOC(uint32_t, requests.total);
        MPI_Alltoallv(wanted->gids, asked, asked_start, MPI_UINT32_T, requests.gids, requests.count, start,
                      MPI_UINT32_T, comm);
        free(start);
    }
    free(asked_start);
    free(asked);
    return requests;
}

struct owned {
    uint32_t gid, neuron;
};

static int by_gid(const void *a, const void *b) {
    uint32_t x = ((const struct owned *)a)->gid, y = ((const struct owned *)b)->gid;
    return (x > y) - (x < y);
}

/// Sorts the ids of this rank's neurons, so that the number of each can be found by its id.
static struct owned *sort_owned(const uint32_t *gids, uint32_t n) {
    struct owned *owned = ALLOC(struct owned, n);
    for (uint32_t i = 0; i < n; i++) owned[i] = (struct owned){gids[i], i};
    qsort(owned, n, sizeof *owned, by_gid);
    return owned;
}

static uint32_t find_owned(const struct owned *owned, uint32_t n, uint32_t gid) {
    struct owned key = {gid, 0};
    const struct owned *found = bsearch(&key, owned, n, sizeof key, by_gid);
    if (!found) abort(); // a defect, since the placement is the same on all ranks
    return found->neuron;
}

/// Makes one route for each neuron that is wanted, and tells those who want it which number it has here.
static void broadcast_routes(struct routes *routes, MPI_Comm comm, int ranks, const struct wanted *wanted,
                             const struct requests *requests) {
    int *count = ALLOC(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) count[rank] = (int)wanted->per_owner[rank];
    int *start = starts(count, ranks), *request_start = starts(requests->count, ranks);
    routes->number = ALLOC(uint32_t, mpi_sum(count, ranks));
    MPI_Alltoallv(requests->gids, requests->count, request_start, MPI_UINT32_T, routes->number, count, start,
                  MPI_UINT32_T, comm);
    free(count);
    free(start);
    free(request_start);

    size_t n = 0;
    for (uint32_t i = 0; i < routes->neurons; i++) {
        bool wants = routes->first[i] > 0;
        routes->first[i] = n;
        if (wants) routes->route[n++] = (struct route){0, i};
    }
    routes->first[routes->neurons] = n;
}

/// Makes one route for each neuron and each rank that wants it.
static void single_routes(struct routes *routes, int ranks, const struct requests *requests) {
    for (uint32_t i = 0; i < routes->neurons; i++) routes->first[i + 1] += routes->first[i];
    // This goes from the last request to the first, so that the routes of a neuron end up in the order of
    // ranks.
    size_t request = requests->total;
    for (int rank = ranks - 1; rank >= 0; rank--)
        for (int k = requests->count[rank] - 1; k >= 0; k--)
            routes->route[--routes->first[requests->gids[--request]]] =
                (struct route){rank, (uint32_t)(requests->first_list[rank] + k)};
}

/// Turns requests into routes.
static void answer(struct routes *routes, MPI_Comm comm, int ranks, const struct wanted *wanted,
                   struct requests *requests, const uint32_t *own_gids, bool broadcast) {
    struct owned *owned = sort_owned(own_gids, routes->neurons);
    routes->route = ALLOC(struct route, requests->total);
    for (size_t i = 0; i < requests->total; i++) {
        requests->gids[i] = find_owned(owned, routes->neurons, requests->gids[i]);
        routes->first[requests->gids[i]]++;
    }
    routes->target = ALLOC_ZERO(bool, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) routes->target[rank] = requests->count[rank] > 0;
    if (broadcast)
        broadcast_routes(routes, comm, ranks, wanted, requests);
    else
        single_routes(routes, ranks, requests);

    free(owned);
}

bool routes_open(struct routes *routes, MPI_Comm comm, const struct wanted *wanted, const uint32_t *own_gids,
                 uint32_t n, bool broadcast, struct error *error) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    *routes = (struct routes){.neurons = n, .first = ALLOC_ZERO(size_t, (size_t)n + 1)};
    struct requests requests = exchange_requests(comm, ranks, wanted, error);
    const bool good = requests.gids;
    if (good) answer(routes, comm, ranks, wanted, &requests, own_gids, broadcast);
    free(requests.gids);
    free(requests.count);
    free(requests.first_list);
    return good;
}

size_t routes_bytes(const struct routes *routes) {
    return ((size_t)routes->neurons + 1) * sizeof *routes->first +
           routes->first[routes->neurons] * sizeof *routes->route;
}

void routes_close(struct routes *routes) {
    free(routes->first);
    free(routes->route);
    free(routes->target);
    free(routes->number);
}
