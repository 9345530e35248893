/// \file
/// Exchanges the sizes, then the spikes: only what there is travels, in two calls. Four back-ends differ in
/// these calls. They go to all ranks or between partners, and block or not.

#include "transport/exchange/counted.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void parts_open(struct parts *parts, const int *ranks, int n, int own, int all_places) {
    const int all = n + (own >= 0);
    const size_t places = (size_t)(all_places ? all_places : all);
    *parts = (struct parts){.n = all,
                            .rank = ALLOC(int, (size_t)all),
                            .by_rank = all_places > 0,
                            .places = places,
                            .count = ALLOC_ZERO(int, places),
                            .start = ALLOC_ZERO(int, places)};
    for (int i = 0; i < n; i++) parts->rank[i] = ranks ? ranks[i] : i;
    if (own >= 0) parts->rank[n] = own;
}

static int place_of(const struct parts *parts, int i) {
    return parts->by_rank ? parts->rank[i] : i;
}

void parts_make_room(struct parts *parts) {
    uint64_t total = 0;
    for (int i = 0; i < parts->n; i++) {
        parts->start[place_of(parts, i)] = (int)total;
        total += (uint64_t)parts->count[place_of(parts, i)];
        mpi_count(total, "words that arrive");
    }
    joined_reserve(&parts->arrived, total);
}

void parts_deliver(const struct parts *parts, struct inbox *inbox) {
    for (int i = 0; i < parts->n; i++)
        inbox_add(inbox, parts->rank[i], parts->arrived.words + parts->start[place_of(parts, i)],
                  (size_t)parts->count[place_of(parts, i)]);
}

size_t parts_bytes(const struct parts *parts) {
    return ((size_t)parts->n + 2 * parts->places) * sizeof(int) + parts->arrived.capacity * sizeof(uint32_t);
}

void parts_close(struct parts *parts) {
    FREE(parts->rank, parts->count, parts->start);
    joined_close(&parts->arrived);
}

struct counted {
    struct exchange common;
    struct parts out, in;
    MPI_Comm comm;       ///< that of the exchange, or the graph of its partners, in their order
    MPI_Request request; ///< of the sizes, then of the words, where the calls do not block
    bool sizes_there;    ///< of this window
    /// Moves the sizes where `words` is NULL, else the words from there on. A call that does not block sets
    /// `request`.
    void (*call)(struct counted *x, const uint32_t *words);
};

/// Opens the exchange for calls that take places of all ranks, the own one included.
static void counted_open_all(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    const struct partners *partners = &exchange->partners;
    parts_open(&x->out, NULL, 0, -1, exchange->ranks);
    parts_open(&x->in, partners->sources, partners->n_sources, exchange->rank, exchange->ranks);
    x->comm = exchange->comm;
}

#if HAVE_NEIGHBOR_COLLECTIVES
/// Opens it for calls between partners only, on the graph of who has synapses of whom
/// (MPI_Dist_graph_create_adjacent; Hoefler and Traeff 2009). Arrivals are from the sources and, last, from
/// the own rank, whose words do not need MPI.
static void counted_open_partners(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    const struct partners *partners = &exchange->partners;
    parts_open(&x->out, partners->targets, partners->n_targets, -1, 0);
    parts_open(&x->in, partners->sources, partners->n_sources, exchange->rank, 0);
    const int most = x->out.n > x->in.n ? x->out.n : x->in.n;
    int *weights = ALLOC(int, (size_t)most);
    for (int i = 0; i < most; i++) weights[i] = 1;
    exchange->connections = x->out.n;
    MPI_Dist_graph_create_adjacent(exchange->comm, partners->n_sources, x->in.rank, weights, x->out.n,
                                   x->out.rank, weights, MPI_INFO_NULL, 0, &x->comm);
    free(weights);
}
#endif

static bool between_partners(const struct counted *x) {
    return x->comm != x->common.comm;
}

/// Takes the counts and places of what the outbox holds now, and counts, for each other rank, one message of
/// a size, and one of words where there are some.
static void counted_collect(struct counted *x, const struct outbox *outbox) {
    const bool all = x->out.by_rank;
    const int n = all ? outbox->n_to : x->out.n, *to = all ? outbox->to : x->out.rank;
    struct traffic *traffic = &x->common.traffic;
    const uint64_t sizes = all ? (uint64_t)x->common.ranks - 1 : (uint64_t)n;
    traffic->messages += sizes;
    traffic->bytes += sizes * sizeof(int);
    for (int i = 0; i < n; i++) {
        const uint32_t count = outbox_count(outbox, to[i]);
        x->out.count[all ? to[i] : i] = (int)count;
        x->out.start[all ? to[i] : i] = outbox_start(outbox, to[i]);
        if (to[i] == x->common.rank || count == 0) continue;
        traffic->messages++;
        traffic->bytes += count * sizeof(uint32_t);
    }
}

/// Makes room for the words of this window, whose sizes are there.
static void counted_make_room(struct counted *x, const struct outbox *outbox) {
    if (between_partners(x)) x->in.count[x->in.n - 1] = (int)outbox_count(outbox, x->common.rank);
    parts_make_room(&x->in);
}

/// Lets the inbox point at the words that have arrived. Between partners, the own words do not need MPI.
static void counted_deliver(struct counted *x, const struct outbox *outbox) {
    const size_t own = outbox_count(outbox, x->common.rank);
    if (between_partners(x) && own > 0)
        memcpy(x->in.arrived.words + x->in.start[x->in.n - 1], outbox_words(outbox, x->common.rank),
               own * sizeof(uint32_t));
    parts_deliver(&x->in, &x->common.inbox);
}

static void counted_move(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    counted_collect(x, outbox);
    x->call(x, NULL);
    counted_make_room(x, outbox);
    x->call(x, outbox->words);
    counted_deliver(x, outbox);
}

// Calls that do not block exchange the sizes from start() on, and the spikes from the first progress() or
// finish() that finds the sizes there.

static void counted_start(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    counted_collect(x, outbox);
    x->sizes_there = false;
    x->call(x, NULL);
}

static void counted_send(struct counted *x, const struct outbox *outbox) {
    x->sizes_there = true;
    counted_make_room(x, outbox);
    x->call(x, outbox->words);
}

static void counted_progress(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    int complete;
    MPI_Test(&x->request, &complete, MPI_STATUS_IGNORE);
    if (complete && !x->sizes_there) counted_send(x, outbox);
}

static void counted_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    if (!x->sizes_there) {
        counted_send(x, outbox);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    counted_deliver(x, outbox);
}

static size_t counted_bytes(const struct exchange *exchange) {
    const struct counted *x = (const struct counted *)exchange;
    return parts_bytes(&x->out) + parts_bytes(&x->in);
}

static void counted_close(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    if (between_partners(x)) MPI_Comm_free(&x->comm);
    parts_close(&x->out);
    parts_close(&x->in);
}

// -------------------- back-ends
// Each has a function that makes its two calls of MPI.

#define SIZES x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm
#define WORDS                                                                                                \
    words, x->out.count, x->out.start, MPI_UINT32_T, x->in.arrived.words, x->in.count, x->in.start,          \
        MPI_UINT32_T, x->comm

/// Makes NAME_call() and NAME_open() of a back-end.
#define CALLS(name, open_parts, move_words, move_sizes)                                                      \
    static void name##_call(struct counted *x, const uint32_t *words) {                                      \
        if (words)                                                                                           \
            move_words;                                                                                      \
        else                                                                                                 \
            move_sizes;                                                                                      \
    }                                                                                                        \
    static void name##_open(struct exchange *exchange) {                                                     \
        open_parts(exchange);                                                                                \
        ((struct counted *)exchange)->call = name##_call;                                                    \
    }

#define COMMON         .size = sizeof(struct counted), .bytes = counted_bytes, .close = counted_close
#define BLOCKING(name) .open = name##_open, .finish = counted_move, COMMON
#define NOT_BLOCKING(name)                                                                                   \
    .open = name##_open, .start = counted_start, .progress = counted_progress, .finish = counted_finish,     \
    COMMON

CALLS(alltoallv, counted_open_all, MPI_Alltoallv(WORDS), MPI_Alltoall(SIZES))
const struct exchange_backend exchange_alltoallv = {
    .name = "alltoallv",
    .summary = "sizes by MPI_Alltoall, then spikes by MPI_Alltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    BLOCKING(alltoallv),
};

// The non-blocking collectives of MPI 3 (Hoefler et al. 2007).
CALLS(ialltoallv, counted_open_all, MPI_Ialltoallv(WORDS, &x->request), MPI_Ialltoall(SIZES, &x->request))
const struct exchange_backend exchange_ialltoallv = {
    .name = "ialltoallv",
    .summary = "as alltoallv, by the non-blocking MPI_Ialltoall and MPI_Ialltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    NOT_BLOCKING(ialltoallv),
};

#if HAVE_NEIGHBOR_COLLECTIVES
CALLS(neighbor, counted_open_partners, MPI_Neighbor_alltoallv(WORDS), MPI_Neighbor_alltoall(SIZES))
CALLS(ineighbor, counted_open_partners, MPI_Ineighbor_alltoallv(WORDS, &x->request),
      MPI_Ineighbor_alltoall(SIZES, &x->request))
#define NEIGHBOR(...) __VA_ARGS__
#else
#define NEIGHBOR(...) .absent = "this MPI library has no MPI_Neighbor_alltoallv"
#endif

const struct exchange_backend exchange_neighbor = {
    .name = "neighbor",
    .summary = "between partners only, by MPI_Neighbor_alltoall and MPI_Neighbor_alltoallv",
    NEIGHBOR(BLOCKING(neighbor))};

const struct exchange_backend exchange_ineighbor = {
    .name = "ineighbor",
    .summary = "as neighbor, by MPI_Ineighbor_alltoall and MPI_Ineighbor_alltoallv",
    NEIGHBOR(NOT_BLOCKING(ineighbor))};
