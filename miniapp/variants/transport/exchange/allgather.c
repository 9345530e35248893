/// \file
/// Every rank gets every spike. MPI_Allgather exchanges buffers of fixed size with the number of spikes and
/// the first of them; MPI_Allgatherv brings the others, if there are any. NEURON does this (Hines et al.
/// 2011).
///
/// All ranks see the same numbers. After an overflow, all of them enlarge their buffers alike before the next
/// window.

#include "base/alloc.h"
#include "transport/exchange/counted.h"
#include <stdlib.h>
#include <string.h>

enum { header = 1, first_room = 15 }; // words: a buffer starts as one cache line

struct allgather {
    struct exchange common;
    uint32_t room, need;       ///< spikes that a buffer holds, and that one had to hold so far
    uint32_t *sent, *received; ///< [header + room], [ranks][header + room]
    struct parts whole;        ///< all spikes of a window with an overflow
    int *rest;                 ///< [ranks] spikes that the second round brings
};

static void make_room(struct allgather *x, uint32_t room) {
    FREE(x->sent, x->received);
    x->room = room;
    x->sent = ALLOC_ZERO(uint32_t, header + room);
    x->received = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * (header + room));
}

static void allgather_open(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    make_room(x, first_room);
    parts_open(&x->whole, NULL, exchange->ranks, -1, 0);
    x->rest = ALLOC(int, (size_t)exchange->ranks);
}

static void count_traffic(struct exchange *exchange, size_t words) {
    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others;
    exchange->traffic.bytes += others * words * sizeof(uint32_t);
}

/// Gathers what did not fit behind what did: the second round writes past the room for the first spikes.
static void gather_rest(struct allgather *x, const struct outbox *outbox) {
    struct parts *whole = &x->whole;
    int room = (int)x->room;
    parts_make_room(whole);
    for (int rank = 0; rank < whole->n; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (header + x->room);
        int first = whole->count[rank] < room ? whole->count[rank] : room;
        memcpy(whole->arrived.words + whole->start[rank], buffer + header, (size_t)first * sizeof *buffer);
        x->rest[rank] = whole->count[rank] - first;
        whole->start[rank] += first;
    }
    int rest = x->rest[x->common.rank];
    MPI_Allgatherv(rest ? outbox_words(outbox, 0) + room : NULL, rest, MPI_UINT32_T, whole->arrived.words,
                   x->rest, whole->start, MPI_UINT32_T, x->common.comm);
    for (int rank = 0; rank < whole->n; rank++) whole->start[rank] -= whole->count[rank] - x->rest[rank];
    if (rest) count_traffic(&x->common, (size_t)rest);
}

static void allgather_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct allgather *x = (struct allgather *)exchange;
    if (x->need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + x->need) words *= 2;
        make_room(x, words - header);
    }
    uint32_t words = header + x->room, count = outbox_count(outbox, 0);
    x->sent[0] = count;
    memcpy(x->sent + header, outbox_words(outbox, 0), (count < x->room ? count : x->room) * sizeof *x->sent);
    const int n = mpi_count(words, "words of a buffer");
    MPI_Allgather(x->sent, n, MPI_UINT32_T, x->received, n, MPI_UINT32_T, exchange->comm);
    count_traffic(exchange, words);

    for (int rank = 0; rank < exchange->ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * words;
        x->whole.count[rank] = (int)buffer[0];
        x->need = x->need < buffer[0] ? buffer[0] : x->need;
    }
    if (x->need > x->room) {
        gather_rest(x, outbox);
        parts_deliver(&x->whole, &exchange->inbox);
        return;
    }
    for (int rank = 0; rank < exchange->ranks; rank++)
        inbox_add(&exchange->inbox, rank, x->received + (size_t)rank * words + header,
                  (size_t)x->whole.count[rank]);
}

static size_t allgather_bytes(const struct exchange *exchange) {
    const struct allgather *x = (const struct allgather *)exchange;
    const size_t ranks = (size_t)exchange->ranks;
    return (ranks + 1) * (header + x->room) * sizeof(uint32_t) + ranks * sizeof *x->rest +
           parts_bytes(&x->whole);
}

static void allgather_close(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    FREE(x->sent, x->received, x->rest);
    parts_close(&x->whole);
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

// -------------------- allgatherv
// Every rank gets every spike: MPI_Allgather exchanges the sizes, then MPI_Allgatherv the spikes, as the
// collective communication of MUSIC does (Brocke and Djurfeldt 2011).

struct allgatherv {
    struct exchange common;
    struct parts in;
};

static void allgatherv_open(struct exchange *exchange) {
    parts_open(&((struct allgatherv *)exchange)->in, NULL, exchange->ranks, -1, 0);
}

static void allgatherv_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct allgatherv *x = (struct allgatherv *)exchange;
    int count = (int)outbox_count(outbox, 0);
    MPI_Allgather(&count, 1, MPI_INT, x->in.count, 1, MPI_INT, exchange->comm);
    parts_make_room(&x->in);
    MPI_Allgatherv(outbox_words(outbox, 0), count, MPI_UINT32_T, x->in.arrived.words, x->in.count,
                   x->in.start, MPI_UINT32_T, exchange->comm);
    parts_deliver(&x->in, &exchange->inbox);

    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others * (1 + (count > 0));
    exchange->traffic.bytes += others * (sizeof count + (size_t)count * sizeof(uint32_t));
}

static size_t allgatherv_bytes(const struct exchange *exchange) {
    return parts_bytes(&((const struct allgatherv *)exchange)->in);
}

static void allgatherv_close(struct exchange *exchange) {
    parts_close(&((struct allgatherv *)exchange)->in);
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
