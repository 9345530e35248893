/// \file
/// Every rank gets every spike: MPI_Allgather exchanges the sizes, then MPI_Allgatherv the spikes, as the
/// collective communication of MUSIC does (Brocke and Djurfeldt 2011).
///
/// Cost of a window: all spikes of the lane on every rank, and two collectives. Memory: 12 bytes for each
/// rank, and the words of all ranks. A rank that sends needs no routes but one for each neuron; receivers
/// search for their lists (transport/search.h).

#include "transport/exchange.h"
#include "transport/exchange/rank_blocks.h"

/// The state of the exchange.
struct allgatherv {
    struct exchange common;
    struct rank_blocks in;
};

static void allgatherv_open(struct exchange *exchange) {
    rank_blocks_open(&((struct allgatherv *)exchange)->in, NULL, exchange->ranks, -1, 0);
}

static void allgatherv_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct allgatherv *x = (struct allgatherv *)exchange;
    // First the sizes, then the spikes.
    int count = (int)send_buffer_count(send_buffer, 0);
    MPI_Allgather(&count, 1, MPI_INT, x->in.count, 1, MPI_INT, exchange->comm);
    rank_blocks_make_room(&x->in);
    MPI_Allgatherv(send_buffer_words(send_buffer, 0), count, MPI_UINT32_T, x->in.arrived.words, x->in.count,
                   x->in.displacement, MPI_UINT32_T, exchange->comm);
    rank_blocks_deliver(&x->in, &exchange->receive_buffer);

    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others * (1 + (count > 0));
    exchange->traffic.bytes += others * (sizeof count + (size_t)count * sizeof(uint32_t));
}

static size_t allgatherv_bytes(const struct exchange *exchange) {
    return rank_blocks_bytes(&((const struct allgatherv *)exchange)->in);
}

static void allgatherv_close(struct exchange *exchange) {
    rank_blocks_close(&((struct allgatherv *)exchange)->in);
}

const struct exchange_backend exchange_allgatherv = {
    .name = "allgatherv",
    .summary = "every spike to every rank: sizes by MPI_Allgather, then spikes by MPI_Allgatherv",
    .broadcast = true,
    .rank_bytes = counts_rank_bytes + sizeof(int),
    .size = sizeof(struct allgatherv),
    .open = allgatherv_open,
    .finish = allgatherv_finish,
    .bytes = allgatherv_bytes,
    .close = allgatherv_close,
};
