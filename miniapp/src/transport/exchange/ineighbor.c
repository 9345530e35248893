/// \file
/// Exchanges as neighbor does, but with non-blocking collectives: MPI_Ineighbor_alltoall exchanges the sizes
/// from start() on, and MPI_Ineighbor_alltoallv the spikes from the first progress() or finish() that finds
/// the sizes there.

#include "transport/exchange/counts.h"

#include <stdbool.h>

#define NAME    "ineighbor"
#define SUMMARY "as neighbor, by MPI_Ineighbor_alltoall and MPI_Ineighbor_alltoallv"

#if HAVE_NEIGHBOR_COLLECTIVES

struct ineighbor {
    struct exchange common;
    struct departures out;
    struct arrivals in;
    MPI_Comm graph;
    MPI_Request request; ///< of the sizes, then of the spikes
    bool sizes_there;
};

static void open(struct exchange *exchange) {
    struct ineighbor *x = (struct ineighbor *)exchange;
    departures_open_partners(&x->out, exchange);
    arrivals_open_partners(&x->in, exchange);
    exchange->connections = x->out.n;
    x->graph = partners_graph(&x->out, &x->in, exchange->comm);
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct ineighbor *x = (struct ineighbor *)exchange;
    departures_collect(&x->out, outbox);
    departures_count(&x->out, exchange);
    x->sizes_there = false;
    MPI_Ineighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->graph, &x->request);
}

static void send_spikes(struct ineighbor *x, const struct outbox *outbox) {
    x->sizes_there = true;
    arrivals_count_own(&x->in, outbox, x->common.rank);
    arrivals_make_room(&x->in);
    MPI_Ineighbor_alltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
                            x->in.start, MPI_UINT32_T, x->graph, &x->request);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct ineighbor *x = (struct ineighbor *)exchange;
    int complete;
    MPI_Test(&x->request, &complete, MPI_STATUS_IGNORE);
    if (complete && !x->sizes_there) send_spikes(x, outbox);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct ineighbor *x = (struct ineighbor *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    if (!x->sizes_there) {
        send_spikes(x, outbox);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    arrivals_copy_own(&x->in, outbox, exchange->rank);
    arrivals_deliver(&x->in, &exchange->inbox);
}

static size_t bytes(const struct exchange *exchange) {
    const struct ineighbor *x = (const struct ineighbor *)exchange;
    return departures_bytes(&x->out) + arrivals_bytes(&x->in);
}

static void close(struct exchange *exchange) {
    struct ineighbor *x = (struct ineighbor *)exchange;
    MPI_Comm_free(&x->graph);
    departures_close(&x->out);
    arrivals_close(&x->in);
}

const struct exchange_backend exchange_ineighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .size = sizeof(struct ineighbor),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};

#else

const struct exchange_backend exchange_ineighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .absent = "this MPI library has no MPI_Ineighbor_alltoallv",
};

#endif
