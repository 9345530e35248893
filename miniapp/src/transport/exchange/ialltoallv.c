/// \file
/// Exchanges as alltoallv does, but with the non-blocking collectives of MPI 3 (Hoefler et al. 2007):
/// MPI_Ialltoall exchanges the sizes from start() on, and MPI_Ialltoallv the spikes from the first progress()
/// or finish() that finds the sizes there.

#include "transport/exchange/counts.h"

static void sizes(struct counted *x, const struct outbox *outbox) {
    (void)outbox;
    MPI_Ialltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, x->comm, &x->request);
}

static void words(struct counted *x, const struct outbox *outbox) {
    MPI_Ialltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
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

const struct exchange_backend exchange_ialltoallv = {
    .name = "ialltoallv",
    .summary = "as alltoallv, by the non-blocking MPI_Ialltoall and MPI_Ialltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct counted),
    .open = counted_open_all,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = counted_bytes,
    .close = counted_close,
};
