/// \file
/// Exchanges the sizes by MPI_Alltoall, then the spikes by MPI_Alltoallv. Only what there is travels, in two
/// calls.

#include "transport/all_to_all.h"
#include "transport/exchange/counts.h"

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct counted *x = (struct counted *)exchange;
    departures_collect(&x->out, outbox);
    all_to_all(x->out.count, 1, x->in.count, x->comm);
    counted_make_room(x, outbox);
    all_to_all_v(outbox->words, (struct parts){x->out.count, x->out.start}, x->in.words,
                 (struct parts){x->in.count, x->in.start}, x->comm);
    counted_deliver(x, outbox);
    departures_count(&x->out, exchange);
}

const struct exchange_backend exchange_alltoallv = {
    .name = "alltoallv",
    .summary = "sizes by MPI_Alltoall, then spikes by MPI_Alltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct counted),
    .open = counted_open_all,
    .finish = finish,
    .bytes = counted_bytes,
    .close = counted_close,
};
