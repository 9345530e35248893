#include "transport/routes.h"

#include "base/alloc.h"
#include "transport/exchange.h"
#include <stdlib.h>

void wanted_open(struct wanted *wanted, const struct placement *placement, const int *place, int ranks,
                 unsigned bits) {
    *wanted = (struct wanted){.placement = placement, .place = place};
    wanted->per_owner = ALLOC_ZERO(uint32_t, (size_t)ranks);
    id_set_open(&wanted->sources, placement->network->n_neurons, bits);
}

void wanted_close(struct wanted *wanted) {
    id_set_close(&wanted->sources);
    free(wanted->per_owner);
    wanted->per_owner = NULL;
}

void wanted_number(struct wanted *wanted) {
    wanted->lists = id_set_number(&wanted->sources);
    struct wanted_cursor cursor = wanted_from(wanted, 0);
    for (uint64_t list = 0; list < wanted->lists; list++) {
        int owner;
        wanted_next(&cursor, &owner);
        wanted->per_owner[owner]++;
    }
}

struct owned {
    uint32_t gid, neuron;
};

/// What the ranks ask each other in a round. A request is one word, the id of the source, or two, with the
/// number of the list.
struct round {
    MPI_Comm comm;
    int rank, ranks;
    const struct wanted *wanted;
    uint64_t rounds, first, end; ///< lists first ... end - 1 of this rank are asked for
    int *asked, *asked_start;    ///< [ranks] words, in the order of owners
    int *got, *got_start;        ///< [ranks] words, in the order of who asks
    uint32_t *request, *received;
    struct owned *owned; ///< [neurons] the neurons of this rank, by id
    uint32_t neurons;
};

uint64_t routes_rounds(uint64_t most) {
    enum { small = 1 << 20, rounds_of_many = 16, large = 1 << 28 };
    const uint64_t rounds = most / small + 1;
    return most / large + (rounds < rounds_of_many ? rounds : rounds_of_many);
}

static int by_gid(const void *a, const void *b) {
    uint32_t x = ((const struct owned *)a)->gid, y = ((const struct owned *)b)->gid;
    return (x > y) - (x < y);
}

static void open_rounds(struct round *r, MPI_Comm comm, const struct wanted *wanted, const uint32_t *own_gids,
                        uint32_t n) {
    *r = (struct round){.comm = comm, .wanted = wanted, .neurons = n};
    MPI_Comm_rank(comm, &r->rank);
    MPI_Comm_size(comm, &r->ranks);
    int **const counts[] = {&r->asked, &r->asked_start, &r->got, &r->got_start};
    for (int i = 0; i < 4; i++) *counts[i] = ALLOC_ZERO(int, (size_t)r->ranks);
    r->owned = ALLOC(struct owned, n);
    for (uint32_t i = 0; i < n; i++) r->owned[i] = (struct owned){own_gids[i], i};
    qsort(r->owned, n, sizeof *r->owned, by_gid);
}

static void close_rounds(struct round *r) {
    FREE(r->asked, r->asked_start, r->got, r->got_start, r->owned);
}

/// Tells the owners how many lists there are of their neurons, and agrees on the number of rounds.
static void announce(struct round *r, struct routes *routes) {
    uint32_t *wanted_here = ALLOC(uint32_t, (size_t)r->ranks);
    MPI_Alltoall(r->wanted->per_owner, 1, MPI_UINT32_T, wanted_here, 1, MPI_UINT32_T, r->comm);
    uint64_t total = 0;
    routes->target = ALLOC(bool, (size_t)r->ranks);
    for (int rank = 0; rank < r->ranks; rank++) {
        routes->target[rank] = wanted_here[rank] > 0;
        total += wanted_here[rank];
    }
    free(wanted_here);
    uint64_t most = total > r->wanted->lists ? total : r->wanted->lists;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, r->comm);
    r->rounds = routes_rounds(most);
}

/// Writes the requests of a round, `words` for each list, in the order of owners and then of lists.
static void write_requests(struct round *r, int words) {
    int owner;
    for (int rank = 0; rank < r->ranks; rank++) r->asked[rank] = 0;
    struct wanted_cursor cursor = wanted_from(r->wanted, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        wanted_next(&cursor, &owner);
        r->asked[owner] += words;
    }
    mpi_starts(r->asked, r->ranks, r->asked_start, "words of requests");
    r->request = ALLOC(uint32_t, (size_t)words * (r->end - r->first));
    cursor = wanted_from(r->wanted, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        const uint32_t gid = wanted_next(&cursor, &owner);
        uint32_t *request = r->request + r->asked_start[owner];
        request[0] = gid;
        if (words > 1) request[1] = (uint32_t)list;
        r->asked_start[owner] += words;
    }
    for (int rank = 0; rank < r->ranks; rank++) r->asked_start[rank] -= r->asked[rank];
}

/// Brings parts of words from each rank to each, those of rank r from start[r] on, in turn. Unlike
/// MPI_Alltoallv, it sends none where there are none, which is most often so among many ranks.
static void swap(const struct round *r, const uint32_t *send, const int *out, const int *out_start,
                 uint32_t *receive, const int *in, const int *in_start) {
    for (int step = 0; step < r->ranks; step++) {
        const int from = (r->rank + step) % r->ranks, to = (r->rank - step + r->ranks) % r->ranks;
        MPI_Sendrecv(send + out_start[to], out[to], MPI_UINT32_T, out[to] ? to : MPI_PROC_NULL, 0,
                     receive + in_start[from], in[from], MPI_UINT32_T, in[from] ? from : MPI_PROC_NULL, 0,
                     r->comm, MPI_STATUS_IGNORE);
    }
}

/// Makes the requests of a round and receives those of the others. Ranks begin at different places of their
/// lists, since all of them may have neighbouring sources on one rank. Collective.
static void ask(struct round *r, uint64_t round, int words) {
    const uint64_t part = (round + (uint64_t)r->rank) % r->rounds, lists = r->wanted->lists;
    r->first = lists * part / r->rounds;
    r->end = lists * (part + 1) / r->rounds;
    write_requests(r, words);
    MPI_Alltoall(r->asked, 1, MPI_INT, r->got, 1, MPI_INT, r->comm);
    r->received = ALLOC(uint32_t, mpi_starts(r->got, r->ranks, r->got_start, "words of requests"));
    swap(r, r->request, r->asked, r->asked_start, r->received, r->got, r->got_start);
}

/// Replaces the ids that were received, every `words`-th word, by the numbers of these neurons. The requests
/// of a rank ascend.
static void find_neurons(struct round *r, int words) {
    for (int rank = 0; rank < r->ranks; rank++) {
        uint32_t *at = r->received + r->got_start[rank], *end = at + r->got[rank], low = 0, high = r->neurons;
        while (at < end && low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (r->owned[middle].gid < *at)
                low = middle + 1;
            else
                high = middle;
        }
        for (; at < end; at += words) {
            while (low < r->neurons && r->owned[low].gid < *at) low++;
            if (low == r->neurons || r->owned[low].gid != *at)
                fatal("routes: a rank asks for neuron %u, which lies elsewhere", *at);
            *at = r->owned[low].neuron;
        }
    }
}

/// Tells those who want a neuron which number it has here, and notes the numbers of those that this rank
/// wants.
static void answer_broadcast(struct round *r, struct search *search) {
    int owner;
    swap(r, r->received, r->got, r->got_start, r->request, r->asked, r->asked_start);
    struct wanted_cursor cursor = wanted_from(r->wanted, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        wanted_next(&cursor, &owner);
        search_add(search, owner, r->request[r->asked_start[owner]++], (uint32_t)list);
    }
}

/// Counts the routes of every neuron. With a `search`, opens it, too.
static void count_routes(struct round *r, struct routes *routes, struct search *search) {
    for (uint64_t round = 0; round < r->rounds; round++) {
        ask(r, round, 1);
        find_neurons(r, 1);
        const uint64_t got = mpi_sum(r->got, r->ranks);
        for (uint64_t i = 0; i < got; i++) routes->first[r->received[i]]++;
        if (search) answer_broadcast(r, search);
        FREE(r->request, r->received);
    }
}

static void broadcast_routes(struct routes *routes) {
    size_t n = 0;
    for (uint32_t i = 0; i < routes->neurons; i++) n += routes->first[i] > 0;
    routes->route = ALLOC(struct route, n);
    n = 0;
    for (uint32_t i = 0; i < routes->neurons; i++) {
        bool wants = routes->first[i] > 0;
        routes->first[i] = n;
        if (wants) routes->route[n++] = (struct route){0, i};
    }
    routes->first[routes->neurons] = n;
}

static void single_routes(struct round *r, struct routes *routes) {
    for (uint32_t i = 0; i < routes->neurons; i++) routes->first[i + 1] += routes->first[i];
    routes->route = ALLOC(struct route, routes->first[routes->neurons]);
    for (uint64_t round = 0; round < r->rounds; round++) {
        ask(r, round, 2);
        find_neurons(r, 2);
        for (int rank = 0; rank < r->ranks; rank++) {
            const uint32_t *request = r->received + r->got_start[rank];
            for (int k = 0; k < r->got[rank]; k += 2)
                routes->route[--routes->first[request[k]]] = (struct route){rank, request[k + 1]};
        }
        FREE(r->request, r->received);
    }
}

void routes_open(struct routes *routes, struct search *search, MPI_Comm comm, const struct wanted *wanted,
                 const uint32_t *own_gids, uint32_t n) {
    struct round r;
    *routes = (struct routes){.neurons = n, .first = ALLOC_ZERO(size_t, (size_t)n + 1)};
    open_rounds(&r, comm, wanted, own_gids, n);
    if (search) search_open(search, r.ranks, wanted->per_owner);
    announce(&r, routes);
    count_routes(&r, routes, search);
    if (search) {
        broadcast_routes(routes);
        search_sort(search);
    } else {
        single_routes(&r, routes);
    }
    close_rounds(&r);
}

size_t routes_bytes(const struct routes *routes) {
    return ((size_t)routes->neurons + 1) * sizeof *routes->first +
           routes->first[routes->neurons] * sizeof *routes->route;
}

void routes_close(struct routes *routes) {
    FREE(routes->first, routes->route, routes->target);
}
