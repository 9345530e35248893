/// \file
/// One MPI_Alltoall of buffers of fixed size, as NEST does (Jordan et al. 2018): one call, padding travels
/// too.
///
/// A buffer is a header and up to `room` spikes. The header says how many words follow, and how many
/// the sender has at most for any destination, so that all ranks see alike whether some buffer overflows.
/// Then all grow their buffers to the next power of two and make a second round with everything in it.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { header = 2, first_room = 14 }; // words: a buffer starts as one cache line

struct alltoall {
    struct exchange common;
    uint32_t room;             ///< spikes that a buffer holds
    uint32_t *sent, *received; ///< [ranks][header + room]
};

static void make_room(struct alltoall *x, uint32_t room) {
    size_t words = (size_t)x->common.ranks * (header + room);
    free(x->sent);
    free(x->received);
    x->room = room;
    x->sent = ALLOC_ZERO(uint32_t, words);
    x->received = ALLOC_ZERO(uint32_t, words);
}

static void open(struct exchange *exchange) {
    make_room((struct alltoall *)exchange, first_room);
}

/// One round with the buffers as they are. \return the largest need of any rank.
static uint32_t exchange_round(struct alltoall *x, const struct outbox *outbox, uint32_t need) {
    struct exchange *exchange = &x->common;
    size_t words = header + x->room;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        uint32_t *buffer = x->sent + (size_t)rank * words, count = outbox->count[rank];
        buffer[0] = count;
        buffer[1] = need;
        if (count <= x->room)
            memcpy(buffer + header, outbox->words + (size_t)rank * outbox->capacity, count * sizeof *buffer);
    }
    MPI_Alltoall(x->sent, (int)words, MPI_UINT32_T, x->received, (int)words, MPI_UINT32_T, exchange->comm);
    exchange->traffic.messages += (uint64_t)exchange->ranks - 1;
    exchange->traffic.bytes += ((uint64_t)exchange->ranks - 1) * words * sizeof *x->sent;

    for (int rank = 0; rank < exchange->ranks; rank++) {
        uint32_t other = x->received[(size_t)rank * words + 1];
        need = need < other ? other : need;
    }
    return need;
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct alltoall *x = (struct alltoall *)exchange;
    uint32_t need = 0;
    for (int rank = 0; rank < exchange->ranks; rank++)
        need = need < outbox->count[rank] ? outbox->count[rank] : need;

    need = exchange_round(x, outbox, need);
    if (need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + need) words *= 2;
        make_room(x, words - header);
        exchange_round(x, outbox, need);
    }
    for (int rank = 0; rank < exchange->ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (header + x->room);
        exchange->inbox.run[rank] = (struct inbox_run){buffer + header, buffer[0]};
    }
}

static size_t bytes(const struct exchange *exchange) {
    const struct alltoall *x = (const struct alltoall *)exchange;
    return 2 * (size_t)exchange->ranks * (header + x->room) * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    struct alltoall *x = (struct alltoall *)exchange;
    free(x->sent);
    free(x->received);
}

const struct exchange_backend exchange_alltoall = {
    .name = "alltoall",
    .summary = "MPI_Alltoall of buffers of fixed size, a second round with larger ones when one overflows",
    .size = sizeof(struct alltoall),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
