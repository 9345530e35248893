/// \file
/// Every rank gets every spike: MPI_Allgather exchanges the sizes, then MPI_Allgatherv the spikes, as the
/// collective communication of MUSIC does (Brocke and Djurfeldt 2011).

#include "transport/exchange/counts.h"

struct allgatherv {
    struct exchange common;
    struct arrivals in;
};

static void open(struct exchange *exchange) {
    arrivals_open_all(&((struct allgatherv *)exchange)->in, exchange->ranks);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct allgatherv *x = (struct allgatherv *)exchange;
    int count = (int)outbox_count(outbox, 0);
    MPI_Allgather(&count, 1, MPI_INT, x->in.count, 1, MPI_INT, exchange->comm);
    arrivals_make_room(&x->in);
    MPI_Allgatherv(outbox_words(outbox, 0), count, MPI_UINT32_T, x->in.words, x->in.count, x->in.start,
                   MPI_UINT32_T, exchange->comm);
    arrivals_deliver(&x->in, &exchange->inbox);

    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others * (1 + (count > 0));
    exchange->traffic.bytes += others * (sizeof count + (size_t)count * sizeof(uint32_t));
}

static size_t bytes(const struct exchange *exchange) {
    return arrivals_bytes(&((const struct allgatherv *)exchange)->in);
}

static void close(struct exchange *exchange) {
    arrivals_close(&((struct allgatherv *)exchange)->in);
}

const struct exchange_backend exchange_allgatherv = {
    .name = "allgatherv",
    .summary = "every spike to every rank: sizes by MPI_Allgather, then spikes by MPI_Allgatherv",
    .broadcast = true,
    .rank_bytes = counts_rank_bytes,
    .size = sizeof(struct allgatherv),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
