/// \file
/// Exchanges as neighbor does, but with non-blocking collectives: MPI_Ineighbor_alltoall exchanges the sizes
/// from start() on, and MPI_Ineighbor_alltoallv the spikes from the first progress() or finish() that finds
/// the sizes there.

#include "transport/exchange/counts.h"

#define NAME    "ineighbor"
#define SUMMARY "as neighbor, by MPI_Ineighbor_alltoall and MPI_Ineighbor_alltoallv"

#if HAVE_NEIGHBOR_COLLECTIVES

static void sizes(struct counted *x, const struct outbox *outbox) {
    (void)outbox;
    MPI_Ineighbor_alltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm, &x->request);
}

static void words(struct counted *x, const struct outbox *outbox) {
    MPI_Ineighbor_alltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
                            x->in.start, MPI_UINT32_T, x->comm, &x->request);
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    counted_start(exchange, outbox, sizes);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    counted_progress(exchange, outbox, words);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    counted_finish(exchange, outbox, words);
}

const struct exchange_backend exchange_ineighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .size = sizeof(struct counted),
    .open = counted_open_partners,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = counted_bytes,
    .close = counted_close,
};

#else

const struct exchange_backend exchange_ineighbor = {
    .name = NAME,
    .summary = SUMMARY,
    .absent = "this MPI library has no MPI_Ineighbor_alltoallv",
};

#endif
