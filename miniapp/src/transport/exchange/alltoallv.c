/// \file
/// Sizes by MPI_Alltoall, then spikes by MPI_Alltoallv: only what there is travels, in two calls.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>

struct alltoallv {
    struct exchange common;
    int *send_count, *send_start, *receive_count, *receive_start; ///< [ranks]
    uint32_t *received;
    size_t capacity; ///< of received, words
};

static void open(struct exchange *exchange) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    size_t ranks = (size_t)exchange->ranks;
    x->send_count = ALLOC(int, ranks);
    x->send_start = ALLOC(int, ranks);
    x->receive_count = ALLOC(int, ranks);
    x->receive_start = ALLOC(int, ranks);
}

static void count_traffic(struct exchange *exchange, const int *send_count) {
    for (int rank = 0; rank < exchange->ranks; rank++) {
        if (rank == exchange->rank) continue;
        exchange->traffic.messages += 1 + (send_count[rank] > 0);
        exchange->traffic.bytes += sizeof(int) + (size_t)send_count[rank] * sizeof(uint32_t);
    }
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        x->send_count[rank] = (int)outbox->count[rank];
        x->send_start[rank] = (int)((uint32_t)rank * outbox->capacity);
    }
    MPI_Alltoall(x->send_count, 1, MPI_INT, x->receive_count, 1, MPI_INT, exchange->comm);

    size_t total = 0;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        x->receive_start[rank] = (int)total;
        total += (size_t)x->receive_count[rank];
    }
    if (total > x->capacity) {
        free(x->received);
        x->capacity = 2 * total;
        x->received = ALLOC(uint32_t, x->capacity);
    }
    MPI_Alltoallv(outbox->words, x->send_count, x->send_start, MPI_UINT32_T, x->received, x->receive_count,
                  x->receive_start, MPI_UINT32_T, exchange->comm);

    for (int rank = 0; rank < exchange->ranks; rank++)
        exchange->inbox.run[rank] =
            (struct inbox_run){x->received + x->receive_start[rank], (size_t)x->receive_count[rank]};
    count_traffic(exchange, x->send_count);
}

static size_t bytes(const struct exchange *exchange) {
    return ((const struct alltoallv *)exchange)->capacity * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    struct alltoallv *x = (struct alltoallv *)exchange;
    free(x->send_count);
    free(x->send_start);
    free(x->receive_count);
    free(x->receive_start);
    free(x->received);
}

const struct exchange_backend exchange_alltoallv = {
    .name = "alltoallv",
    .summary = "sizes by MPI_Alltoall, then spikes by MPI_Alltoallv",
    .size = sizeof(struct alltoallv),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
