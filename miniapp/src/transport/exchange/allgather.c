/// \file
/// Every rank gets every spike. MPI_Allgather exchanges buffers of fixed size with the number of spikes and
/// the first of them; MPI_Allgatherv brings the others, if there are any. NEURON does this (Hines et al.
/// 2011).
///
/// All ranks see the same numbers. After an overflow, all of them enlarge their buffers alike before the next
/// window.

#include "transport/exchange/counts.h"

#include "base/alloc.h"
#include "transport/all_to_all.h"
#include "transport/mpi_count.h"
#include <stdlib.h>
#include <string.h>

enum { header = 1, first_room = 15 }; // words: a buffer starts as one cache line

struct allgather {
    struct exchange common;
    uint32_t room, need;       ///< spikes that a buffer holds, and that one had to hold so far
    uint32_t *sent, *received; ///< [header + room], [ranks][header + room]
    struct arrivals whole;     ///< all spikes of a window with an overflow
    int *rest;                 ///< [ranks] spikes that the second round brings
};

static void make_room(struct allgather *x, uint32_t room) {
    free(x->sent);
    free(x->received);
    x->room = room;
    x->sent = ALLOC_ZERO(uint32_t, header + room);
    x->received = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * (header + room));
}

static void open(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    make_room(x, first_room);
    arrivals_open_all(&x->whole, exchange->ranks);
    x->rest = ALLOC(int, (size_t)exchange->ranks);
}

static void count_traffic(struct exchange *exchange, size_t words) {
    uint64_t others = (uint64_t)exchange->ranks - 1;
    exchange->traffic.messages += others;
    exchange->traffic.bytes += others * words * sizeof(uint32_t);
}

/// Gathers what did not fit behind what did: the second round writes past the room for the first spikes.
static void gather_rest(struct allgather *x, const struct outbox *outbox) {
    struct arrivals *whole = &x->whole;
    int room = (int)x->room;
    arrivals_make_room(whole);
    for (int rank = 0; rank < whole->n; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (header + x->room);
        int first = whole->count[rank] < room ? whole->count[rank] : room;
        memcpy(whole->words + whole->start[rank], buffer + header, (size_t)first * sizeof *buffer);
        x->rest[rank] = whole->count[rank] - first;
        whole->start[rank] += first;
    }
    int rest = x->rest[x->common.rank];
    MPI_Allgatherv(rest ? outbox_words(outbox, 0) + room : NULL, rest, MPI_UINT32_T, whole->words, x->rest,
                   whole->start, MPI_UINT32_T, x->common.comm);
    for (int rank = 0; rank < whole->n; rank++) whole->start[rank] -= whole->count[rank] - x->rest[rank];
    if (rest) count_traffic(&x->common, (size_t)rest);
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
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
    all_gather(x->sent, n, x->received, exchange->comm);
    count_traffic(exchange, words);

    for (int rank = 0; rank < exchange->ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * words;
        exchange->inbox.run[rank] = (struct inbox_run){buffer + header, buffer[0]};
        x->whole.count[rank] = (int)buffer[0];
        x->need = x->need < buffer[0] ? buffer[0] : x->need;
    }
    if (x->need > x->room) {
        gather_rest(x, outbox);
        arrivals_deliver(&x->whole, &exchange->inbox);
    }
}

static size_t bytes(const struct exchange *exchange) {
    const struct allgather *x = (const struct allgather *)exchange;
    const size_t ranks = (size_t)exchange->ranks;
    return (ranks + 1) * (header + x->room) * sizeof(uint32_t) + ranks * sizeof *x->rest +
           arrivals_bytes(&x->whole);
}

static void close(struct exchange *exchange) {
    struct allgather *x = (struct allgather *)exchange;
    free(x->sent);
    free(x->received);
    free(x->rest);
    arrivals_close(&x->whole);
}

const struct exchange_backend exchange_allgather = {
    .name = "allgather",
    .summary =
        "every spike to every rank: MPI_Allgather of buffers of fixed size, MPI_Allgatherv of the rest",
    .broadcast = true,
    .rank_bytes = (header + first_room) * sizeof(uint32_t) + counts_rank_bytes + sizeof(int),
    .size = sizeof(struct allgather),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
