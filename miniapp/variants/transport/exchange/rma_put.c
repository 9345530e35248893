/// \file
/// One-sided: every rank puts its spikes straight into slots that its targets keep for it, with one
/// MPI_Win_fence per window. This is the direct counterpart of the doubling of Shehzad and Bozkus (2016), for
/// words that differ between destinations.
///
/// A receiver has a slot for each of its sources: a header that says how many words follow, and room for
/// `room` words. Slots have two halves, which are used in turns. A rank can put into a half again only after
/// the fence of the window between. The receiver enters that fence when it has done with the words of the
/// window before. So the fence that ends a window also begins the next one.
///
/// A rank whose words do not fit puts none, but tells all ranks how much room it needs. After the fence all
/// ranks see the same need, make their memory larger and begin again.

#include "base/alloc.h"
#include "transport/exchange.h"
#include "transport/exchange/rma_memory.h"
#include <stdlib.h>
#include <string.h>

enum { cache_line = rma_cache_line, header = rma_header };

/// The state of rma_put.
struct rma_put {
    struct exchange common;   ///< first, so that a pointer to one is a pointer to the other
    int n_targets, n_sources; ///< partners in each direction
    int *targets, *sources;   ///< [n_targets], [n_sources] ranks; owned
    int *place;               ///< [n_targets] of this rank among the sources of each target
    uint32_t room;            ///< words that a slot holds besides the header
    uint32_t half;            ///< 0 or 1, in use
    uint32_t need;            ///< what this rank tells the others; must stay until the fence
    struct rma_memory memory; ///< a cache line with the needs of both halves, then slots [n_sources][2]
    uint32_t *sent;           ///< [n_targets][header + room]
    struct word_buffer own;   ///< words from this rank to itself
};

/// Returns the place of a slot of the half in use, in words from the beginning of a rank's memory.
static size_t slot(const struct rma_put *x, int place) {
    return cache_line + ((size_t)place * 2 + x->half) * (header + x->room);
}

/// Collective.
static void open_slots(struct rma_put *x, uint32_t room) {
    x->room = room;
    x->sent = ALLOC(uint32_t, (size_t)x->n_targets * (header + room));
    rma_memory_open(&x->memory, x->common.comm, cache_line + (size_t)x->n_sources * 2 * (header + x->room));
}

/// Collective.
static void close_slots(struct rma_put *x) {
    rma_memory_close(&x->memory);
    free(x->sent);
}

/// Copies the partners, and lets the receivers tell the senders their places.
static void rma_put_open(struct exchange *exchange) {
    struct rma_put *x = (struct rma_put *)exchange;
    const struct partners *partners = &exchange->partners;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = alloc_copy(partners->targets, (size_t)x->n_targets, sizeof(int));
    x->sources = alloc_copy(partners->sources, (size_t)x->n_sources, sizeof(int));

    int *told = ALLOC_ZERO(int, (size_t)exchange->ranks), *heard = ALLOC(int, (size_t)exchange->ranks);
    for (int i = 0; i < x->n_sources; i++) told[x->sources[i]] = i;
    MPI_Alltoall(told, 1, MPI_INT, heard, 1, MPI_INT, exchange->comm);
    x->place = ALLOC(int, (size_t)x->n_targets);
    for (int i = 0; i < x->n_targets; i++) x->place[i] = heard[x->targets[i]];
    FREE(told, heard);
    open_slots(x, rma_first_room);
}

/// Puts words into another rank's memory from word `at` on. They must stay until the fence.
static void put(struct rma_put *x, const uint32_t *words, size_t count, int rank, size_t at) {
    MPI_Put(words, (int)count, MPI_UINT32_T, rank, (MPI_Aint)at, (int)count, MPI_UINT32_T, x->memory.handle);
    x->common.traffic.messages++;
    x->common.traffic.bytes += count * sizeof *words;
}

/// Tells all ranks how much room this one needs. Each half has a cell for that, because a fast rank may be a
/// window ahead of one that still reads its own.
static void tell_need(struct rma_put *x) {
    for (int rank = 0; rank < x->common.ranks; rank++)
        MPI_Accumulate(&x->need, 1, MPI_UINT32_T, rank, x->half, 1, MPI_UINT32_T, MPI_MAX, x->memory.handle);
    x->common.traffic.messages += (uint64_t)x->common.ranks - 1;
    x->common.traffic.bytes += ((uint64_t)x->common.ranks - 1) * sizeof x->need;
}

/// Puts the words of this window into the slots of all targets, or tells how much room they need.
static void rma_put_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct rma_put *x = (struct rma_put *)exchange;
    x->need = 0;
    for (int i = 0; i < x->n_targets; i++) {
        const uint32_t count = send_buffer_count(send_buffer, x->targets[i]);
        x->need = x->need < count ? count : x->need;
    }
    if (x->need > x->room) {
        tell_need(x);
        return;
    }
    for (int i = 0; i < x->n_targets; i++) {
        const int target = x->targets[i];
        const size_t count = send_buffer_count(send_buffer, target);
        uint32_t *buffer = x->sent + (size_t)i * (header + x->room);
        buffer[0] = (uint32_t)count;
        memcpy(buffer + header, send_buffer_words(send_buffer, target), count * sizeof *buffer);
        put(x, buffer, header + count, target, slot(x, x->place[i]));
    }
}

/// Ends the epoch; where any rank needs more room, makes it and begins again. Then reads the own slots.
static void rma_put_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct rma_put *x = (struct rma_put *)exchange;
    MPI_Win_fence(0, x->memory.handle);
    uint32_t need = x->memory.words[x->half];
    if (need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + need) words *= 2;
        close_slots(x);
        open_slots(x, words - header);
        rma_put_start(exchange, send_buffer);
        MPI_Win_fence(0, x->memory.handle);
    }
    for (int i = 0; i < x->n_sources; i++) {
        const uint32_t *buffer = x->memory.words + slot(x, i);
        receive_buffer_add(&exchange->receive_buffer, x->sources[i], buffer + header, buffer[0]);
    }
    const uint32_t own = send_buffer_count(send_buffer, exchange->rank);
    word_buffer_reserve(&x->own, own);
    if (own) memcpy(x->own.words, send_buffer_words(send_buffer, exchange->rank), own * sizeof *x->own.words);
    receive_buffer_add(&exchange->receive_buffer, exchange->rank, x->own.words, own);
    x->half ^= 1;
}

static size_t rma_put_bytes(const struct exchange *exchange) {
    const struct rma_put *x = (const struct rma_put *)exchange;
    const size_t targets = (size_t)x->n_targets, sources = (size_t)x->n_sources;
    return rma_memory_bytes(&x->memory) + (2 * targets + sources) * sizeof(int) +
           (targets * (header + x->room) + x->own.capacity) * sizeof(uint32_t);
}

static void rma_put_close(struct exchange *exchange) {
    struct rma_put *x = (struct rma_put *)exchange;
    close_slots(x);
    FREE(x->targets, x->sources, x->place);
    word_buffer_close(&x->own);
}

const struct exchange_backend exchange_rma_put = {
    .name = "rma_put",
    .summary = "MPI_Put into slots at the ranks that have routes, one MPI_Win_fence a window",
    .size = sizeof(struct rma_put),
    .open = rma_put_open,
    .start = rma_put_start,
    .finish = rma_put_finish,
    .bytes = rma_put_bytes,
    .close = rma_put_close,
};
