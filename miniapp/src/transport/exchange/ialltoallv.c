/// \file
/// Exchanges as alltoallv does, but with the non-blocking collectives of MPI 3 (Hoefler et al. 2007):
/// MPI_Ialltoall exchanges the sizes from start() on, and MPI_Ialltoallv the spikes from the first progress()
/// or finish() that finds the sizes there.

#include "transport/exchange/counts.h"

#include <stdbool.h>

struct ialltoallv {
    struct exchange common;
    struct departures out;
    struct arrivals in;
    MPI_Request request; ///< of the sizes, then of the spikes
    bool sizes_there;
};

static void open(struct exchange *exchange) {
    struct ialltoallv *x = (struct ialltoallv *)exchange;
    departures_open_all(&x->out, exchange->ranks);
    arrivals_open_all(&x->in, exchange->ranks);
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct ialltoallv *x = (struct ialltoallv *)exchange;
    departures_collect(&x->out, outbox);
    departures_count(&x->out, exchange);
    x->sizes_there = false;
    MPI_Ialltoall(x->out.count, 1, MPI_INT, x->in.count, 1, MPI_INT, exchange->comm, &x->request);
}

static void send_spikes(struct ialltoallv *x, const struct outbox *outbox) {
    x->sizes_there = true;
    arrivals_make_room(&x->in);
    MPI_Ialltoallv(outbox->words, x->out.count, x->out.start, MPI_UINT32_T, x->in.words, x->in.count,
                   x->in.start, MPI_UINT32_T, x->common.comm, &x->request);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct ialltoallv *x = (struct ialltoallv *)exchange;
    int complete;
    MPI_Test(&x->request, &complete, MPI_STATUS_IGNORE);
    if (complete && !x->sizes_there) send_spikes(x, outbox);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct ialltoallv *x = (struct ialltoallv *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    if (!x->sizes_there) {
        send_spikes(x, outbox);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    arrivals_deliver(&x->in, &exchange->inbox);
}

static size_t bytes(const struct exchange *exchange) {
    const struct ialltoallv *x = (const struct ialltoallv *)exchange;
    return departures_bytes(&x->out) + arrivals_bytes(&x->in);
}

static void close(struct exchange *exchange) {
    struct ialltoallv *x = (struct ialltoallv *)exchange;
    departures_close(&x->out);
    arrivals_close(&x->in);
}

const struct exchange_backend exchange_ialltoallv = {
    .name = "ialltoallv",
    .summary = "as alltoallv, by the non-blocking MPI_Ialltoall and MPI_Ialltoallv",
    .rank_bytes = 2 * counts_rank_bytes,
    .size = sizeof(struct ialltoallv),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
