/// \file
/// Exchanges as alltoallv does, but between partners only: by the neighbourhood collectives of MPI 3 on the
/// graph of who has synapses of whom (MPI_Dist_graph_create_adjacent; Hoefler and Traeff 2009). The own words
/// are copied.

#include "transport/exchange/counts.h"

#define NAME    "neighbor"
#define SUMMARY "between partners only, by MPI_Neighbor_alltoall and MPI_Neighbor_alltoallv"

#if HAVE_NEIGHBOR_COLLECTIVES

struct neighbor {
    struct exchange common;
    struct departures out;
    struct arrivals in;
    MPI_Comm graph;
};

static void open(struct exchange *exchange) {
    struct neighbor *x = (struct neighbor *)exchange;
    departures_open_partners(&x->out, exchange);
    arrivals_open_partners(&x->in, exchange);
    exchange->connections = x->out.n;
    x->graph = partners_graph(&x->out, &x->in, exchange->comm);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct neighbor *x = (struct neighbor *)exchange;
    departures_collect(&x->out, outbox);
    MPI_Neighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->graph);
    arrivals_count_own(&x->in, outbox, exchange->rank);
    arrivals_make_room(&x->in);
    MPI_Neighbor_alltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
                           x->in.start, MPI_UINT32_T, x->graph);
    arrivals_copy_own(&x->in, outbox, exchange->rank);
    arrivals_deliver(&x->in, &exchange->inbox);
    departures_count(&x->out, exchange);
}

static size_t bytes(const struct exchange *exchange) {
    const struct neighbor *x = (const struct neighbor *)exchange;
    return departures_bytes(&x->out) + arrivals_bytes(&x->in);
}

static void close(struct exchange *exchange) {
    struct neighbor *x = (struct neighbor *)exchange;
    MPI_Comm_free(&x->graph);
    departures_close(&x->out);
    arrivals_close(&x->in);
}

const struct exchange_backend exchange_neighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .size = sizeof(struct neighbor),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};

#else

const struct exchange_backend exchange_neighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .absent = "this MPI library has no MPI_Neighbor_alltoallv",
};

#endif
