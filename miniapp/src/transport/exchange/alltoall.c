/// \file
/// Exchanges buffers of fixed size by one MPI_Alltoall, as NEST does (Jordan et al. 2018). It is one call,
/// but the padding travels too. When some buffer overflows, all ranks enlarge theirs to the next power of two
/// and make a second round with everything in it.

#include "transport/all_to_all.h"
#include "transport/exchange/padded.h"

struct alltoall {
    struct exchange common;
    struct padded buffers;
};

static void open(struct exchange *exchange) {
    padded_open(&((struct alltoall *)exchange)->buffers, exchange->ranks);
}

static void exchange_round(struct exchange *exchange, const struct outbox *outbox) {
    struct padded *buffers = &((struct alltoall *)exchange)->buffers;
    padded_fill(buffers, outbox, exchange);
    all_to_all(buffers->sent, buffers->words, buffers->received, exchange->comm);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct padded *buffers = &((struct alltoall *)exchange)->buffers;
    exchange_round(exchange, outbox);
    uint32_t need = padded_need(buffers);
    if (need > buffers->room) {
        padded_make_room(buffers, need);
        exchange_round(exchange, outbox);
    }
    padded_deliver(buffers, &exchange->inbox);
}

static size_t bytes(const struct exchange *exchange) {
    return padded_bytes(&((const struct alltoall *)exchange)->buffers);
}

static void close(struct exchange *exchange) {
    padded_close(&((struct alltoall *)exchange)->buffers);
}

const struct exchange_backend exchange_alltoall = {
    .name = "alltoall",
    .summary = "MPI_Alltoall of buffers of fixed size, a second round with larger ones when one overflows",
    .rank_bytes = padded_rank_bytes,
    .size = sizeof(struct alltoall),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
