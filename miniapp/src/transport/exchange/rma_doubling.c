/// \file
/// An allgather by recursive doubling with MPI_Put between fences (Shehzad and Bozkus 2016, section 5, where
/// it replaces MPI_Allgather in NEURON). It takes log2(P) steps, and what a rank puts doubles with each.
///
/// In the paper P is a power of two, and ranks work in pairs. Here any P is served, as in the allgather of
/// Bruck et al. (1997): block i of a rank belongs to the rank i below it (modulo P). Before the step of
/// distance m, a rank has the blocks 0 up to m, and puts them behind those of the rank m above it. The last
/// step puts the P - m blocks that are still missing there. A block is a header, which says how many words
/// follow, and room for `room` words, used or not.
///
/// After the last step all ranks have all headers. Where one of them asks for more room than there is, all
/// ranks enlarge their memory alike and begin again. Blocks have two halves, which are used in turns. A rank
/// can put into a half again only after a fence of the window between. The receiver enters that fence when it
/// has done with the words of the window before. So no fence is needed to open an epoch.

#include "transport/exchange.h"

#include "transport/exchange/rma_memory.h"
#include "transport/mpi_count.h"
#include <string.h>

enum { header = 1, first_room = 15 }; // words: a block starts as one cache line

struct rma_doubling {
    struct exchange common;
    uint32_t room;            ///< words that a block holds besides the header
    uint32_t half;            ///< 0 or 1, in use
    struct rma_memory memory; ///< blocks [2][ranks][header + room]
};

static size_t half_words(const struct rma_doubling *x) {
    return (size_t)x->common.ranks * (header + x->room);
}

/// Returns the place, in words, at which block `i` of the half in use begins.
static size_t block(const struct rma_doubling *x, int i) {
    return x->half * half_words(x) + (size_t)i * (header + x->room);
}

static size_t bytes(const struct exchange *exchange) {
    return rma_memory_bytes(&((const struct rma_doubling *)exchange)->memory);
}

/// Collective.
static void open_blocks(struct rma_doubling *x, uint32_t room) {
    x->room = room;
    rma_memory_open(&x->memory, x->common.comm, 2 * half_words(x));
}

static void open(struct exchange *exchange) {
    exchange->connections = 0;
    for (int m = 1; m < exchange->ranks; m *= 2) exchange->connections++;
    open_blocks((struct rma_doubling *)exchange, first_room);
}

/// Makes all steps with the memory as it is. \return the largest number of words of any rank.
static uint32_t gather(struct rma_doubling *x, const struct outbox *outbox) {
    struct exchange *exchange = &x->common;
    const int ranks = exchange->ranks;
    uint32_t *own = x->memory.words + block(x, 0), need = 0;
    own[0] = outbox_count(outbox, 0);
    if (own[0] <= x->room) memcpy(own + header, outbox_words(outbox, 0), own[0] * sizeof *own);

    for (int m = 1; m < ranks; m *= 2) {
        int above = (exchange->rank + m) % ranks, blocks = m < ranks - m ? m : ranks - m;
        size_t words = (size_t)blocks * (header + x->room);
        const int n = mpi_count(words, "words of a step");
        MPI_Put(own, n, MPI_UINT32_T, above, (MPI_Aint)block(x, m), n, MPI_UINT32_T, x->memory.handle);
        MPI_Win_fence(0, x->memory.handle);
        exchange->traffic.messages++;
        exchange->traffic.bytes += words * sizeof *own;
    }
    for (int i = 0; i < ranks; i++) {
        uint32_t count = x->memory.words[block(x, i)];
        need = need < count ? count : need;
    }
    return need;
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct rma_doubling *x = (struct rma_doubling *)exchange;
    uint32_t need = gather(x, outbox);
    if (need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + need) words *= 2;
        rma_memory_close(&x->memory);
        open_blocks(x, words - header);
        gather(x, outbox);
    }
    for (int i = 0; i < exchange->ranks; i++) {
        const uint32_t *from = x->memory.words + block(x, i);
        int rank = (exchange->rank - i + exchange->ranks) % exchange->ranks;
        exchange->inbox.run[rank] = (struct inbox_run){from + header, from[0]};
    }
    x->half ^= 1;
}

static void close(struct exchange *exchange) {
    rma_memory_close(&((struct rma_doubling *)exchange)->memory);
}

const struct exchange_backend exchange_rma_doubling = {
    .name = "rma_doubling",
    .summary = "every word to all ranks, in log2(P) steps of MPI_Put and MPI_Win_fence",
    .broadcast = true,
    .rank_bytes = 2 * (header + first_room) * sizeof(uint32_t),
    .size = sizeof(struct rma_doubling),
    .open = open,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
