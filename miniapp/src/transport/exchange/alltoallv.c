/// \file
/// Exchanges the sizes by MPI_Alltoall, then the spikes by MPI_Alltoallv. Only what there is travels, in two
/// calls.

#include "transport/all_to_all.h"
#include "transport/exchange/counts.h"

struct alltoallv {
    struct exchange common;
    struct departures out;
    struct arrivals in;
};

static void open(struct exchange *exchange) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    departures_open_all(&x->out, exchange->ranks);
    arrivals_open_all(&x->in, exchange->ranks);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    departures_collect(&x->out, outbox);
    all_to_all(x->out.count, 1, x->in.count, exchange->comm);
    arrivals_make_room(&x->in);
    all_to_all_v(outbox->words, (struct parts){x->out.count, x->out.start}, x->in.words,
                 (struct parts){x->in.count, x->in.start}, exchange->comm);
    arrivals_deliver(&x->in, &exchange->inbox);
    departures_count(&x->out, exchange);
}

static size_t bytes(const struct exchange *exchange) {
    const struct alltoallv *x = (const struct alltoallv *)exchange;
    return departures_bytes(&x->out) + arrivals_bytes(&x->in);
}

static void close(struct exchange *exchange) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    departures_close(&x->out);
    arrivals_close(&x->in);
}

const struct exchange_backend exchange_alltoallv = {
    .name = "alltoallv",
    .summary = "sizes by MPI_Alltoall, then spikes by MPI_Alltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct alltoallv),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
