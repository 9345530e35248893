/// \file
/// Exchanges as alltoall does, but with a persistent collective of MPI 4 (MPI_Alltoall_init). MPI makes its
/// arrangements for the buffers once, and again when they grow. The collective runs from start() to finish().

#include "transport/exchange/padded.h"

#define NAME    "persistent"
#define SUMMARY "MPI_Alltoall_init once, MPI_Start in each window; buffers of fixed size as in alltoall"

#if HAVE_PERSISTENT_COLLECTIVES

struct persistent {
    struct exchange common;
    struct padded buffers;
    MPI_Request request;
};

static void arrange(struct persistent *x) {
    const struct padded *buffers = &x->buffers;
    MPI_Alltoall_init(buffers->sent, buffers->words, MPI_UINT32_T, buffers->received, buffers->words,
                      MPI_UINT32_T, x->common.comm, MPI_INFO_NULL, &x->request);
}

static void open(struct exchange *exchange) {
    struct persistent *x = (struct persistent *)exchange;
    padded_open(&x->buffers, exchange->ranks);
    arrange(x);
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct persistent *x = (struct persistent *)exchange;
    padded_fill(&x->buffers, outbox, exchange);
    MPI_Start(&x->request);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    int complete;
    (void)outbox;
    MPI_Test(&((struct persistent *)exchange)->request, &complete, MPI_STATUS_IGNORE);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct persistent *x = (struct persistent *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    uint32_t need = padded_need(&x->buffers);
    if (need > x->buffers.room) {
        MPI_Request_free(&x->request);
        padded_make_room(&x->buffers, need);
        arrange(x);
        start(exchange, outbox);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    padded_deliver(&x->buffers, &exchange->inbox);
}

static size_t bytes(const struct exchange *exchange) {
    return padded_bytes(&((const struct persistent *)exchange)->buffers);
}

static void close(struct exchange *exchange) {
    struct persistent *x = (struct persistent *)exchange;
    MPI_Request_free(&x->request);
    padded_close(&x->buffers);
}

const struct exchange_backend exchange_persistent = {
    .name = NAME,
    .summary = SUMMARY,
    .rank_bytes = padded_rank_bytes,
    .size = sizeof(struct persistent),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};

#else

const struct exchange_backend exchange_persistent = {
    .name = NAME,
    .summary = SUMMARY,
    .absent = "this MPI library has no MPI_Alltoall_init (MPI 4)",
};

#endif
