/// \file
/// Exchanges as alltoallv does, but between partners only: by the neighbourhood collectives of MPI 3 on the
/// graph of who has synapses of whom (MPI_Dist_graph_create_adjacent; Hoefler and Traeff 2009). The own words
/// are copied.

#include "transport/exchange/counts.h"

#define NAME    "neighbor"
#define SUMMARY "between partners only, by MPI_Neighbor_alltoall and MPI_Neighbor_alltoallv"

#if HAVE_NEIGHBOR_COLLECTIVES

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    departures_collect(&x->out, outbox);
    MPI_Neighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm);
    counted_make_room(x, outbox);
    MPI_Neighbor_alltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
                           x->in.start, MPI_UINT32_T, x->comm);
    counted_deliver(x, outbox);
    departures_count(&x->out, exchange);
}

const struct exchange_backend exchange_neighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .size = sizeof(struct counted),
    .open = counted_open_partners,
    .finish = finish,
    .bytes = counted_bytes,
    .close = counted_close,
};

#else

const struct exchange_backend exchange_neighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .absent = "this MPI library has no MPI_Neighbor_alltoallv",
};

#endif
