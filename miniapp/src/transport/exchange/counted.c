/// \file
/// Exchanges the sizes, then the spikes: only what there is travels, in two calls. Four back-ends differ in
/// these calls. They go to all ranks or between partners, and block or not.
///
/// A window: counted_collect() reads from the send buffer how many words go where, and at which place of the
/// pool they lie: MPI takes them from there, without a copy. The first call tells each receiver its counts.
/// rank_blocks_make_room() places what will arrive, rank after rank. The second call moves the words.
/// counted_deliver() lets the receive buffer point at them.
///
/// Cost: the calls to all ranks look at a count for each rank, even where it is 0. Those between partners do
/// not. Memory: 8 bytes for each rank or partner and direction, and the words that arrive.

#include "transport/exchange.h"
#include "transport/exchange/rank_blocks.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/// The state of the four back-ends.
struct counted {
    struct exchange common;
    struct rank_blocks out, in; ///< what leaves, and what arrives
    MPI_Comm comm;              ///< that of the exchange, or the graph of its partners, in their order
    MPI_Request request;        ///< of the sizes, then of the words, where the calls do not block
    bool sizes_there;           ///< of this window
    void (*move_sizes)(struct counted *x);                        ///< the first call of the back-end
    void (*move_words)(struct counted *x, const uint32_t *words); ///< the second one; `words`: the pool
};

/// Opens the exchange for calls that take places of all ranks, the own one included.
static void open_all(struct counted *x) {
    const struct partners *partners = &x->common.partners;
    // Out: counts for all ranks, of which only those in the send buffer ever change.
    rank_blocks_open(&x->out, NULL, 0, -1, x->common.ranks);
    rank_blocks_open(&x->in, partners->sources, partners->n_sources, x->common.rank, x->common.ranks);
    x->comm = x->common.comm;
}

#if HAVE_NEIGHBOR_COLLECTIVES
/// Opens it for calls between partners only, on the graph of who has synapses of whom
/// (MPI_Dist_graph_create_adjacent; Hoefler and Traeff 2009). Arrivals are from the sources and, last, from
/// the own rank, whose words do not need MPI.
static void open_partners(struct counted *x) {
    struct exchange *exchange = &x->common;
    const struct partners *partners = &exchange->partners;
    rank_blocks_open(&x->out, partners->targets, partners->n_targets, -1, 0);
    rank_blocks_open(&x->in, partners->sources, partners->n_sources, exchange->rank, 0);
    // All connections weigh the same: some libraries do not take MPI_UNWEIGHTED, and equal weights say it,
    // too. Ranks keep their numbers, since their neurons are there already.
    const int most = x->out.n > x->in.n ? x->out.n : x->in.n;
    enum { reorder = 0, same_weight = 1 };
    int *weights = ALLOC(int, (size_t)most);
    for (int i = 0; i < most; i++) weights[i] = same_weight;
    exchange->connections = x->out.n;
    MPI_Dist_graph_create_adjacent(exchange->comm, partners->n_sources, x->in.rank, weights, x->out.n,
                                   x->out.rank, weights, MPI_INFO_NULL, reorder, &x->comm);
    free(weights);
}
#endif

/// Says whether the calls are those on a graph of partners.
static bool between_partners(const struct counted *x) {
    return x->comm != x->common.comm;
}

/// Takes the counts and places of what the send buffer holds now, and counts, for each other rank, one
/// message of a size, and one of words where there are some.
static void counted_collect(struct counted *x, const struct send_buffer *send_buffer) {
    const bool all = x->out.by_rank;
    const int n = all ? send_buffer->n_reachable : x->out.n, *to = all ? send_buffer->reachable : x->out.rank;
    struct traffic *traffic = &x->common.traffic;
    const uint64_t sizes = all ? (uint64_t)x->common.ranks - 1 : (uint64_t)n;
    traffic->messages += sizes;
    traffic->bytes += sizes * sizeof(int);
    for (int i = 0; i < n; i++) {
        const uint32_t count = send_buffer_count(send_buffer, to[i]);
        // Calls to all ranks take places by rank, calls between partners by the order of partners.
        x->out.count[all ? to[i] : i] = (int)count;
        x->out.displacement[all ? to[i] : i] = send_buffer_start(send_buffer, to[i]);
        if (to[i] == x->common.rank || count == 0) continue;
        traffic->messages++;
        traffic->bytes += count * sizeof(uint32_t);
    }
}

/// Makes room for the words of this window, whose sizes are there.
static void counted_make_room(struct counted *x, const struct send_buffer *send_buffer) {
    if (between_partners(x)) x->in.count[x->in.n - 1] = (int)send_buffer_count(send_buffer, x->common.rank);
    rank_blocks_make_room(&x->in);
}

/// Lets the receive buffer point at the words that have arrived. Between partners, the own words do not need
/// MPI.
static void counted_deliver(struct counted *x, const struct send_buffer *send_buffer) {
    const size_t own = send_buffer_count(send_buffer, x->common.rank);
    if (between_partners(x) && own > 0)
        memcpy(x->in.arrived.words + x->in.displacement[x->in.n - 1],
               send_buffer_words(send_buffer, x->common.rank), own * sizeof(uint32_t));
    rank_blocks_deliver(&x->in, &x->common.receive_buffer);
}

/// Does the whole exchange of a back-end that blocks.
static void counted_move(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct counted *x = (struct counted *)exchange;
    counted_collect(x, send_buffer);
    x->move_sizes(x);
    counted_make_room(x, send_buffer);
    x->move_words(x, send_buffer->words);
    counted_deliver(x, send_buffer);
}

// Calls that do not block exchange the sizes from start() on, and the spikes from the first progress() or
// finish() that finds the sizes there.

/// Begins to exchange the sizes.
static void counted_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct counted *x = (struct counted *)exchange;
    counted_collect(x, send_buffer);
    x->sizes_there = false;
    x->move_sizes(x);
}

/// Begins to exchange the words, once the sizes are there.
static void counted_send(struct counted *x, const struct send_buffer *send_buffer) {
    x->sizes_there = true;
    counted_make_room(x, send_buffer);
    x->move_words(x, send_buffer->words);
}

/// Looks whether the sizes have come, and if so begins with the words.
static void counted_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct counted *x = (struct counted *)exchange;
    int complete;
    MPI_Test(&x->request, &complete, MPI_STATUS_IGNORE);
    if (complete && !x->sizes_there) counted_send(x, send_buffer);
}

/// Waits for the sizes, unless progress() has seen them, and for the words.
static void counted_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct counted *x = (struct counted *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    if (!x->sizes_there) {
        counted_send(x, send_buffer);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    counted_deliver(x, send_buffer);
}

static size_t counted_bytes(const struct exchange *exchange) {
    const struct counted *x = (const struct counted *)exchange;
    return rank_blocks_bytes(&x->out) + rank_blocks_bytes(&x->in);
}

static void counted_close(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    if (between_partners(x)) MPI_Comm_free(&x->comm);
    rank_blocks_close(&x->out);
    rank_blocks_close(&x->in);
}

// The four back-ends: their two calls of MPI, and their entries.

static void alltoallv_sizes(struct counted *x) {
    MPI_Alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm);
}

static void alltoallv_words(struct counted *x, const uint32_t *words) {
    MPI_Alltoallv(words, x->out.count, x->out.displacement, MPI_UINT32_T, x->in.arrived.words, x->in.count,
                  x->in.displacement, MPI_UINT32_T, x->comm);
}

static void alltoallv_open(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    open_all(x);
    x->move_sizes = alltoallv_sizes;
    x->move_words = alltoallv_words;
}

const struct exchange_backend exchange_alltoallv = {
    .name = "alltoallv",
    .summary = "sizes by MPI_Alltoall, then spikes by MPI_Alltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct counted),
    .open = alltoallv_open,
    .finish = counted_move,
    .bytes = counted_bytes,
    .close = counted_close,
};

// The non-blocking collectives of MPI 3 (Hoefler et al. 2007).

static void ialltoallv_sizes(struct counted *x) {
    MPI_Ialltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm, &x->request);
}

static void ialltoallv_words(struct counted *x, const uint32_t *words) {
    MPI_Ialltoallv(words, x->out.count, x->out.displacement, MPI_UINT32_T, x->in.arrived.words, x->in.count,
                   x->in.displacement, MPI_UINT32_T, x->comm, &x->request);
}

static void ialltoallv_open(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    open_all(x);
    x->move_sizes = ialltoallv_sizes;
    x->move_words = ialltoallv_words;
}

const struct exchange_backend exchange_ialltoallv = {
    .name = "ialltoallv",
    .summary = "as alltoallv, by the non-blocking MPI_Ialltoall and MPI_Ialltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct counted),
    .open = ialltoallv_open,
    .start = counted_start,
    .progress = counted_progress,
    .finish = counted_finish,
    .bytes = counted_bytes,
    .close = counted_close,
};

static const char neighbor_summary[] =
    "between partners only, by MPI_Neighbor_alltoall and MPI_Neighbor_alltoallv";
static const char ineighbor_summary[] = "as neighbor, by MPI_Ineighbor_alltoall and MPI_Ineighbor_alltoallv";

#if HAVE_NEIGHBOR_COLLECTIVES

static void neighbor_sizes(struct counted *x) {
    MPI_Neighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm);
}

static void neighbor_words(struct counted *x, const uint32_t *words) {
    MPI_Neighbor_alltoallv(words, x->out.count, x->out.displacement, MPI_UINT32_T, x->in.arrived.words,
                           x->in.count, x->in.displacement, MPI_UINT32_T, x->comm);
}

static void neighbor_open(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    open_partners(x);
    x->move_sizes = neighbor_sizes;
    x->move_words = neighbor_words;
}

const struct exchange_backend exchange_neighbor = {
    .name = "neighbor",
    .summary = neighbor_summary,
    .size = sizeof(struct counted),
    .open = neighbor_open,
    .finish = counted_move,
    .bytes = counted_bytes,
    .close = counted_close,
};

static void ineighbor_sizes(struct counted *x) {
    MPI_Ineighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm, &x->request);
}

static void ineighbor_words(struct counted *x, const uint32_t *words) {
    MPI_Ineighbor_alltoallv(words, x->out.count, x->out.displacement, MPI_UINT32_T, x->in.arrived.words,
                            x->in.count, x->in.displacement, MPI_UINT32_T, x->comm, &x->request);
}

static void ineighbor_open(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    open_partners(x);
    x->move_sizes = ineighbor_sizes;
    x->move_words = ineighbor_words;
}

const struct exchange_backend exchange_ineighbor = {
    .name = "ineighbor",
    .summary = ineighbor_summary,
    .size = sizeof(struct counted),
    .open = ineighbor_open,
    .start = counted_start,
    .progress = counted_progress,
    .finish = counted_finish,
    .bytes = counted_bytes,
    .close = counted_close,
};

#else

static const char absent[] = "this MPI library has no MPI_Neighbor_alltoallv";
const struct exchange_backend exchange_neighbor = {
    .name = "neighbor", .summary = neighbor_summary, .absent = absent};
const struct exchange_backend exchange_ineighbor = {
    .name = "ineighbor", .summary = ineighbor_summary, .absent = absent};

#endif
