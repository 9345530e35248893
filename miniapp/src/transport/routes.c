/// \file
/// Makes the routes of a lane: every rank tells the owners of its sources, once, which of their neurons
/// it has lists of, and under which numbers. NEST fills its target tables from source tables likewise.
///
/// 1. announce(): one MPI_Alltoall of counts. Owners learn how much will be asked of them, and all agree on
///    the number of rounds.
/// 2. count_routes(): in each round, a rank asks for a part of its lists, one word each (the id of the
///    source). Owners count the routes of each neuron.
/// 3. fill_routes(): the counts become places; the same rounds again, with two words for each list (id and
///    number of the list), fill them.
///
/// Rounds are of bounded size, so that what is on its way at a time is small beside the routes. For a
/// broadcast, 3 is left out: a neuron has one route if anybody has a list of it. Instead owners answer with
/// the number that the neuron has on its rank, and receivers keep it for their search (search.c).
///
/// Cost: three words for each list to its owner, and sorting the neurons of the rank by id. Memory: 8 bytes
/// for each route, 8 for each neuron of the rank. Read next: lane_collocate() in run/lane.c uses routes.

#include "transport/routes.h"

#include "base/alloc.h"
#include "base/fatal.h"
#include "transport/communicator.h"
#include <stdlib.h>

/// A neuron of this rank.
struct own_neuron {
    uint32_t gid;    ///< id in the network
    uint32_t neuron; ///< number on the rank, in the order of threads, blocks and neurons
};

/// What the ranks ask each other in a round. A request is one word, the id of the source, or two, with the
/// number of the list.
struct round {
    MPI_Comm comm;                    ///< of the lane
    int rank, ranks;                  ///< number of this rank in it, and its ranks
    const struct source_table *table; ///< the lists of this rank; borrowed
    uint64_t rounds;                  ///< the same on all ranks
    uint64_t first, end;              ///< lists first ... end - 1 of this rank are asked for in this round
    int *request_count;               ///< [ranks] words for each owner
    int *request_start;               ///< [ranks] where they begin in `request`
    int *received_count;              ///< [ranks] words from each rank
    int *received_start;              ///< [ranks] where they begin in `received`
    uint32_t *request;                ///< what this rank asks in this round; owned
    uint32_t *received;               ///< what the others ask; owned
    struct own_neuron *own_neurons;   ///< [neurons] the neurons of this rank, by id
    uint32_t neurons;                 ///< of this rank
};

/// Lists of a round up to which no second one begins. A round of 2^20 lists needs 16 MiB on a rank: requests
/// of two words, sent and received. Half as many would save 8 MiB and cost further collectives. Chosen, not
/// tuned.
enum { lists_of_one_round = 1 << 20 };

/// Rounds of ranks with more lists. With 16, what is under way at a time is a sixteenth of the routes; with
/// 32 it would be half of that, at twice the collectives. Chosen, not tuned: building takes much longer.
enum { rounds_of_many = 16 };

/// Lists of a round at most: 2^28 requests of two words are still counted by an int of MPI.
enum { lists_of_a_round = 1 << 28 };

uint64_t routes_rounds(uint64_t most) {
    // Up to 16 rounds of at most 2^20 lists; with more lists the rounds get larger, up to 2^28 lists each.
    const uint64_t rounds = most / lists_of_one_round + 1;
    return most / lists_of_a_round + (rounds < rounds_of_many ? rounds : rounds_of_many);
}

/// Compares owned neurons by id, for qsort().
static int by_gid(const void *a, const void *b) {
    uint32_t x = ((const struct own_neuron *)a)->gid, y = ((const struct own_neuron *)b)->gid;
    return (x > y) - (x < y);
}

/// Takes room for the counts of a round, and sorts the neurons of this rank by id, so that requests can be
/// looked up.
static void open_rounds(struct round *r, MPI_Comm comm, const struct source_table *table,
                        const uint32_t *own_gids, uint32_t n) {
    *r = (struct round){.comm = comm, .table = table, .neurons = n};
    MPI_Comm_rank(comm, &r->rank);
    MPI_Comm_size(comm, &r->ranks);
    int **const counts[] = {&r->request_count, &r->request_start, &r->received_count, &r->received_start};
    for (int i = 0; i < 4; i++) *counts[i] = ALLOC_ZERO(int, (size_t)r->ranks);
    r->own_neurons = ALLOC(struct own_neuron, n);
    for (uint32_t i = 0; i < n; i++) r->own_neurons[i] = (struct own_neuron){own_gids[i], i};
    qsort(r->own_neurons, n, sizeof *r->own_neurons, by_gid);
}

/// Frees what open_rounds() took.
static void close_rounds(struct round *r) {
    FREE(r->request_count, r->request_start, r->received_count, r->received_start, r->own_neurons);
}

/// Tells the owners how many lists there are of their neurons, and agrees on the number of rounds.
static void announce(struct round *r, struct routes *routes) {
    uint32_t *wanted_here = ALLOC(uint32_t, (size_t)r->ranks);
    // Which ranks have lists of neurons of this one, and how many.
    MPI_Alltoall(r->table->per_owner, 1, MPI_UINT32_T, wanted_here, 1, MPI_UINT32_T, r->comm);
    uint64_t total = 0;
    routes->target = ALLOC(bool, (size_t)r->ranks);
    for (int rank = 0; rank < r->ranks; rank++) {
        routes->target[rank] = wanted_here[rank] > 0;
        total += wanted_here[rank];
    }
    free(wanted_here);
    // All ranks need the same number of rounds: as many as the one with the most to ask or to answer.
    uint64_t most = total > r->table->lists ? total : r->table->lists;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, r->comm);
    r->rounds = routes_rounds(most);
}

/// Writes the requests of a round, `words` for each list, in the order of owners and then of lists.
static void write_requests(struct round *r, int words) {
    int owner;
    for (int rank = 0; rank < r->ranks; rank++) r->request_count[rank] = 0;
    // How many words go to each owner.
    struct source_cursor cursor = source_cursor_at(r->table, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        source_cursor_next(&cursor, &owner);
        r->request_count[owner] += words;
    }
    // Where those of each owner begin.
    mpi_starts(r->request_count, r->ranks, r->request_start, "words of requests");
    r->request = ALLOC(uint32_t, (size_t)words * (r->end - r->first));
    cursor = source_cursor_at(r->table, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        const uint32_t gid = source_cursor_next(&cursor, &owner);
        uint32_t *request = r->request + r->request_start[owner];
        request[0] = gid;
        if (words > 1) request[1] = (uint32_t)list;
        // The starts serve as places while writing, and are set back afterwards.
        r->request_start[owner] += words;
    }
    for (int rank = 0; rank < r->ranks; rank++) r->request_start[rank] -= r->request_count[rank];
}

/// Brings parts of words from each rank to each, those of rank r from start[r] on, in turn. Unlike
/// MPI_Alltoallv, it sends none where there are none, which is most often so among many ranks.
static void exchange_words(const struct round *r, const uint32_t *send, const int *out, const int *out_start,
                           uint32_t *receive, const int *in, const int *in_start) {
    for (int step = 0; step < r->ranks; step++) {
        // In each step a rank receives from one rank and sends to another; ranks without words are
        // MPI_PROC_NULL.
        const int from = (r->rank + step) % r->ranks, to = (r->rank - step + r->ranks) % r->ranks;
        MPI_Sendrecv(send + out_start[to], out[to], MPI_UINT32_T, out[to] ? to : MPI_PROC_NULL, 0,
                     receive + in_start[from], in[from], MPI_UINT32_T, in[from] ? from : MPI_PROC_NULL, 0,
                     r->comm, MPI_STATUS_IGNORE);
    }
}

/// Makes the requests of a round and receives those of the others. Ranks begin at different places of their
/// lists, since all of them may have neighbouring sources on one rank. Collective.
static void exchange_requests(struct round *r, uint64_t round, int words) {
    // Which part of the lists it is in this round.
    const uint64_t part = (round + (uint64_t)r->rank) % r->rounds, lists = r->table->lists;
    r->first = lists * part / r->rounds;
    r->end = lists * (part + 1) / r->rounds;
    write_requests(r, words);
    // How much comes from whom; then the requests themselves.
    MPI_Alltoall(r->request_count, 1, MPI_INT, r->received_count, 1, MPI_INT, r->comm);
    r->received =
        ALLOC(uint32_t, mpi_starts(r->received_count, r->ranks, r->received_start, "words of requests"));
    exchange_words(r, r->request, r->request_count, r->request_start, r->received, r->received_count,
                   r->received_start);
}

/// Replaces the ids that were received, every `words`-th word, by the numbers of these neurons. The requests
/// of a rank ascend.
static void find_neurons(struct round *r, int words) {
    for (int rank = 0; rank < r->ranks; rank++) {
        uint32_t *request = r->received + r->received_start[rank], *end = request + r->received_count[rank];
        uint32_t low = 0, high = r->neurons;
        // Find the first neuron by bisection, the others by going on from there: requests ascend by id.
        while (request < end && low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (r->own_neurons[middle].gid < *request)
                low = middle + 1;
            else
                high = middle;
        }
        for (; request < end; request += words) {
            // Every id that is asked for must be found: a rank that asks for another one has a different
            // placement.
            while (low < r->neurons && r->own_neurons[low].gid < *request) low++;
            if (low == r->neurons || r->own_neurons[low].gid != *request)
                fatal("routes: a rank asks for neuron %u, which lies elsewhere", *request);
            *request = r->own_neurons[low].neuron;
        }
    }
}

/// Tells those who want a neuron which number it has here, and notes the numbers of those that this rank
/// wants.
static void answer_broadcast(struct round *r, struct search *search) {
    int owner;
    exchange_words(r, r->received, r->received_count, r->received_start, r->request, r->request_count,
                   r->request_start);
    struct source_cursor cursor = source_cursor_at(r->table, r->first);
    for (uint64_t list = r->first; list < r->end; list++) {
        source_cursor_next(&cursor, &owner);
        search_add(search, owner, r->request[r->request_start[owner]++], (uint32_t)list);
    }
}

/// Counts the routes of every neuron. With a `search`, opens it, too.
static void count_routes(struct round *r, struct routes *routes, struct search *search) {
    for (uint64_t round = 0; round < r->rounds; round++) {
        exchange_requests(r, round, 1);
        find_neurons(r, 1);
        const uint64_t requests = mpi_sum(r->received_count, r->ranks);
        for (uint64_t i = 0; i < requests; i++) routes->first[r->received[i]]++;
        // The answer is the number that the neuron has here.
        if (search) answer_broadcast(r, search);
        FREE(r->request, r->received);
    }
}

/// Turns counts into at most one route for each neuron: to destination 0, which stands for all ranks, under
/// the number of the neuron here.
static void fill_broadcast_routes(struct routes *routes) {
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

/// Makes a route for each request: counts become the places where the routes of a neuron end, and move down
/// to where they begin while the routes are put.
static void fill_routes(struct round *r, struct routes *routes) {
    for (uint32_t i = 0; i < routes->neurons; i++) routes->first[i + 1] += routes->first[i];
    routes->route = ALLOC(struct route, routes->first[routes->neurons]);
    for (uint64_t round = 0; round < r->rounds; round++) {
        exchange_requests(r, round, 2);
        find_neurons(r, 2);
        for (int rank = 0; rank < r->ranks; rank++) {
            const uint32_t *request = r->received + r->received_start[rank];
            for (int k = 0; k < r->received_count[rank]; k += 2)
                routes->route[--routes->first[request[k]]] = (struct route){rank, request[k + 1]};
        }
        FREE(r->request, r->received);
    }
}

void routes_open(struct routes *routes, struct search *search, MPI_Comm comm,
                 const struct source_table *table, const uint32_t *own_gids, uint32_t n) {
    struct round r;
    *routes = (struct routes){.neurons = n, .first = ALLOC_ZERO(size_t, (size_t)n + 1)};
    // Step 1 of the head; then 2, and 3 or the search of a broadcast.
    open_rounds(&r, comm, table, own_gids, n);
    if (search) search_open(search, r.ranks, table->per_owner);
    announce(&r, routes);
    count_routes(&r, routes, search);
    if (search) {
        fill_broadcast_routes(routes);
        search_sort(search);
    } else {
        fill_routes(&r, routes);
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
