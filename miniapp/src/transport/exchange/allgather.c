/// \file
/// Every rank gets every spike. MPI_Allgather exchanges buffers of fixed size with the number of spikes and
/// the first of them; MPI_Allgatherv brings the others, if there are any. NEURON does this (Hines et al.
/// 2011).
///
/// All ranks see the same numbers. After an overflow, all of them enlarge their buffers alike before the next
/// window.
///
/// Cost of a window: the buffers of all ranks on every rank, padding included. Memory: the same. In return a
/// neuron has at most one route, and MPI may use its fastest algorithm, since all blocks are equally large.

#include "base/alloc.h"
#include "transport/communicator.h"
#include "transport/exchange.h"
#include "transport/exchange/rank_blocks.h"
#include <string.h>

/// Words: the count before the spikes, and the spikes for which there is room at first. Together they are a
/// line of the cache; buffers double when that is too little, so a larger number would save a few windows
/// only.
enum { header = 1, first_room = 15 };

/// The state of the exchange.
struct allgather {
    struct exchange common;
    uint32_t room, need;       ///< spikes that a buffer holds, and that one had to hold so far
    uint32_t *sent, *received; ///< [header + room], [ranks][header + room]
    struct rank_blocks whole;  ///< all spikes of a window with an overflow
    int *rest;                 ///< [ranks] spikes that the second round brings
};

/// Takes buffers of `room` spikes for each rank; what was in the old ones is lost.
static void make_room(struct allgather *x, uint32_t room) {
    FREE(x->sent, x->received);
    x->room = room;
    x->sent = ALLOC_ZERO(uint32_t, header + room);
    x->received = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * (header + room));
}

/// Opens it with the smallest buffers.
static void allgather_open(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    make_room(x, first_room);
    rank_blocks_open(&x->whole, NULL, exchange->ranks, -1, 0);
    x->rest = ALLOC(int, (size_t)exchange->ranks);
}

/// Counts a message of so many words to every other rank.
static void count_traffic(struct exchange *exchange, size_t words) {
    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others;
    exchange->traffic.bytes += others * words * sizeof(uint32_t);
}

/// Gathers what did not fit behind what did: the second round writes past the room for the first spikes.
static void gather_rest(struct allgather *x, const struct send_buffer *send_buffer) {
    struct rank_blocks *whole = &x->whole;
    int room = (int)x->room;
    rank_blocks_make_room(whole);
    for (int rank = 0; rank < whole->n; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (header + x->room);
        int first = whole->count[rank] < room ? whole->count[rank] : room;
        memcpy(whole->arrived.words + whole->displacement[rank], buffer + header,
               (size_t)first * sizeof *buffer);
        x->rest[rank] = whole->count[rank] - first;
        whole->displacement[rank] += first;
    }
    int rest = x->rest[x->common.rank];
    MPI_Allgatherv(rest ? send_buffer_words(send_buffer, 0) + room : NULL, rest, MPI_UINT32_T,
                   whole->arrived.words, x->rest, whole->displacement, MPI_UINT32_T, x->common.comm);
    for (int rank = 0; rank < whole->n; rank++)
        whole->displacement[rank] -= whole->count[rank] - x->rest[rank];
    if (rest) count_traffic(&x->common, (size_t)rest);
}

/// Does the whole exchange. The first word of a buffer is the number of spikes of its rank.
static void allgather_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct allgather *x = (struct allgather *)exchange;
    // Some rank had too little room in an earlier window: all make the same room now.
    if (x->need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + x->need) words *= 2;
        make_room(x, words - header);
    }
    uint32_t words = header + x->room, count = send_buffer_count(send_buffer, 0);
    x->sent[0] = count;
    memcpy(x->sent + header, send_buffer_words(send_buffer, 0),
           (count < x->room ? count : x->room) * sizeof *x->sent);
    const int n = mpi_count(words, "words of a buffer");
    MPI_Allgather(x->sent, n, MPI_UINT32_T, x->received, n, MPI_UINT32_T, exchange->comm);
    count_traffic(exchange, words);

    // All ranks see the same numbers, so all agree on whether a second round is needed.
    for (int rank = 0; rank < exchange->ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * words;
        x->whole.count[rank] = (int)buffer[0];
        x->need = x->need < buffer[0] ? buffer[0] : x->need;
    }
    if (x->need > x->room) {
        gather_rest(x, send_buffer);
        rank_blocks_deliver(&x->whole, &exchange->receive_buffer);
        return;
    }
    for (int rank = 0; rank < exchange->ranks; rank++)
        receive_buffer_add(&exchange->receive_buffer, rank, x->received + (size_t)rank * words + header,
                           (size_t)x->whole.count[rank]);
}

static size_t allgather_bytes(const struct exchange *exchange) {
    const struct allgather *x = (const struct allgather *)exchange;
    const size_t ranks = (size_t)exchange->ranks;
    return (ranks + 1) * (header + x->room) * sizeof(uint32_t) + ranks * sizeof *x->rest +
           rank_blocks_bytes(&x->whole);
}

static void allgather_close(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    FREE(x->sent, x->received, x->rest);
    rank_blocks_close(&x->whole);
}

const struct exchange_backend exchange_allgather = {
    .name = "allgather",
    .summary =
        "every spike to every rank: MPI_Allgather of buffers of fixed size, MPI_Allgatherv of the rest",
    .broadcast = true,
    .rank_bytes = (header + first_room) * sizeof(uint32_t) + counts_rank_bytes + 2 * sizeof(int),
    .size = sizeof(struct allgather),
    .open = allgather_open,
    .finish = allgather_finish,
    .bytes = allgather_bytes,
    .close = allgather_close,
};
