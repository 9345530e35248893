/// \file
/// Allgathers by MPI_Put between fences, which Shehzad and Bozkus (2016) put in the place of MPI_Allgather in
/// NEURON. Both take about log2(P) steps, and what a rank puts doubles with each.
///
/// rma_doubling is recursive doubling as their algorithms 1 and 2 have it: in step k ranks work in pairs that
/// lie 2^(k-1) apart. Each puts all blocks that it has into the memory of the other, and a fence ends the
/// step. That serves a power of two of ranks. Of other numbers, the ranks beyond the largest power C below it
/// first put their block into rank - C, which takes it along, and gets back all blocks in a last step.
///
/// rma_bruck needs no pairs (Bruck et al. 1997): in the step of distance m, a rank puts its first m blocks
/// into the memory of the rank m above it (modulo P), and the last step puts those that are still missing.
/// Block i of a rank belongs to the rank i below it.
///
/// A block is a header, which says how many words follow, and room for `room` words, used or not. After the
/// last step all ranks have all headers. Where one of them asks for more room than there is, all ranks
/// enlarge their memory alike and begin again. Blocks have two halves, which are used in turns. A rank can
/// put into a half again only after a fence of the window between. The receiver enters that fence when it has
/// done with the words of the window before. So no fence is needed to open an epoch. A rank puts its own
/// block, too, instead of storing it: while others may put into the same memory, MPI allows no stores there
/// unless the memory model is unified.

#include "base/alloc.h"
#include "transport/communicator.h"
#include "transport/exchange.h"
#include "transport/exchange/rma_memory.h"
#include <stdlib.h>
#include <string.h>

enum { header = rma_header };

/// The state of rma_doubling and rma_bruck.
struct rma_gather {
    struct exchange common;
    uint32_t room;            ///< words that a block holds besides the header
    uint32_t half;            ///< 0 or 1, in use
    struct rma_memory memory; ///< blocks [2][ranks][header + room]
    uint32_t *own;            ///< [header + room] the block of this rank
    int core;                 ///< ranks that double: the largest power of two among them
};

/// Returns the words of a block, header included.
static size_t block_words(const struct rma_gather *x) {
    return header + x->room;
}

/// Returns the place, in words, at which block `i` of the half in use begins.
static size_t block(const struct rma_gather *x, int i) {
    return (x->half * (size_t)x->common.ranks + (size_t)i) * block_words(x);
}

static size_t rma_gather_bytes(const struct exchange *exchange) {
    const struct rma_gather *x = (const struct rma_gather *)exchange;
    return rma_memory_bytes(&x->memory) + block_words(x) * sizeof *x->own;
}

/// Collective.
static void open_blocks(struct rma_gather *x, uint32_t room) {
    x->room = room;
    x->own = ALLOC_ZERO(uint32_t, block_words(x));
    rma_memory_open(&x->memory, x->common.comm, 2 * (size_t)x->common.ranks * block_words(x));
}

/// Collective.
static void close_blocks(struct rma_gather *x) {
    rma_memory_close(&x->memory);
    free(x->own);
}

/// Puts `n` blocks that begin at `words` into another rank, as its blocks from `first` on.
static void put_blocks(struct rma_gather *x, const uint32_t *words, int n, int rank, int first) {
    const int count = mpi_count((uint64_t)n * block_words(x), "words of a step");
    MPI_Put(words, count, MPI_UINT32_T, rank, (MPI_Aint)block(x, first), count, MPI_UINT32_T,
            x->memory.handle);
    if (rank == x->common.rank) return;
    x->common.traffic.messages++;
    x->common.traffic.bytes += (size_t)count * sizeof *words;
}

/// Returns the own memory from a block on.
static const uint32_t *blocks_from(const struct rma_gather *x, int first) {
    return x->memory.words + block(x, first);
}

/// Returns the smaller number.
static int least(int a, int b) {
    return a < b ? a : b;
}

/// Recursive doubling. Block i belongs to rank i.
static void double_blocks(struct rma_gather *x) {
    const int rank = x->common.rank, ranks = x->common.ranks, core = x->core;
    const bool folded = rank >= core;
    if (core < ranks) {
        if (folded) put_blocks(x, x->own, 1, rank - core, rank);
        MPI_Win_fence(0, x->memory.handle);
    }
    put_blocks(x, x->own, 1, rank, rank);
    for (int m = 1; m < core; m *= 2) {
        const int first = rank / m * m, other = rank ^ m; // 2^(k-1) above or below
        if (!folded) {
            put_blocks(x, m == 1 ? x->own : blocks_from(x, first), m, other, first);
            if (core + first < ranks)
                put_blocks(x, blocks_from(x, core + first), least(m, ranks - core - first), other,
                           core + first);
        }
        MPI_Win_fence(0, x->memory.handle);
    }
    if (core > 1 && core == ranks) return;
    if (rank + core < ranks) put_blocks(x, blocks_from(x, 0), ranks, rank + core, 0);
    MPI_Win_fence(0, x->memory.handle);
}

/// Bruck's ring.
static void pass_blocks_on(struct rma_gather *x) {
    const int rank = x->common.rank, ranks = x->common.ranks;
    put_blocks(x, x->own, 1, rank, 0);
    if (ranks > 1) put_blocks(x, x->own, 1, (rank + 1) % ranks, 1);
    MPI_Win_fence(0, x->memory.handle);
    for (int m = 2; m < ranks; m *= 2) {
        put_blocks(x, blocks_from(x, 0), least(m, ranks - m), (rank + m) % ranks, m);
        MPI_Win_fence(0, x->memory.handle);
    }
}

/// Makes all steps with the memory as it is. \return the largest number of words of any rank.
static uint32_t gather(struct rma_gather *x, const struct send_buffer *send_buffer,
                       void (*steps)(struct rma_gather *)) {
    uint32_t need = 0;
    x->own[0] = send_buffer_count(send_buffer, 0);
    if (x->own[0] <= x->room)
        memcpy(x->own + header, send_buffer_words(send_buffer, 0), x->own[0] * sizeof *x->own);
    steps(x);
    for (int i = 0; i < x->common.ranks; i++) {
        const uint32_t count = *blocks_from(x, i);
        need = need < count ? count : need;
    }
    return need;
}

/// Gathers all blocks, with more room if they need it.
static void gather_all(struct rma_gather *x, const struct send_buffer *send_buffer,
                       void (*steps)(struct rma_gather *)) {
    const uint32_t need = gather(x, send_buffer, steps);
    if (need <= x->room) return;
    uint32_t words = header + x->room;
    while (words < header + need) words *= 2;
    close_blocks(x);
    open_blocks(x, words - header);
    gather(x, send_buffer, steps);
}

/// Counts with how many ranks this one will pair, and takes the first blocks. Collective.
static void rma_doubling_open(struct exchange *exchange) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    const int ranks = exchange->ranks, rank = exchange->rank;
    exchange->connections = 0;
    for (x->core = 1; 2 * x->core <= ranks; x->core *= 2) exchange->connections++;
    if (rank >= x->core) exchange->connections = 1;
    if (rank + x->core < ranks) exchange->connections++;
    open_blocks(x, rma_first_room);
}

/// Does the whole exchange; block i is that of rank i.
static void rma_doubling_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    gather_all(x, send_buffer, double_blocks);
    for (int rank = 0; rank < exchange->ranks; rank++)
        receive_buffer_add(&exchange->receive_buffer, rank, blocks_from(x, rank) + header,
                           *blocks_from(x, rank));
    x->half ^= 1;
}

/// The same for the ring, where each step has one partner. Collective.
static void rma_bruck_open(struct exchange *exchange) {
    exchange->connections = 0;
    for (int m = 1; m < exchange->ranks; m *= 2) exchange->connections++;
    open_blocks((struct rma_gather *)exchange, rma_first_room);
}

/// Does the whole exchange; block i is that of the rank i below this one.
static void rma_bruck_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    gather_all(x, send_buffer, pass_blocks_on);
    for (int i = 0; i < exchange->ranks; i++) {
        const int rank = (exchange->rank - i + exchange->ranks) % exchange->ranks;
        receive_buffer_add(&exchange->receive_buffer, rank, blocks_from(x, i) + header, *blocks_from(x, i));
    }
    x->half ^= 1;
}

static void rma_gather_close(struct exchange *exchange) {
    close_blocks((struct rma_gather *)exchange);
}

#define GATHER(back_end)                                                                                     \
    .name = #back_end, .broadcast = true, .rank_bytes = 2 * (header + rma_first_room) * sizeof(uint32_t),    \
    .size = sizeof(struct rma_gather), .open = back_end##_open, .finish = back_end##_finish,                 \
    .bytes = rma_gather_bytes, .close = rma_gather_close

const struct exchange_backend exchange_rma_doubling = {
    GATHER(rma_doubling),
    .summary = "every word to all ranks by recursive doubling: pairs of ranks, MPI_Put and MPI_Win_fence",
};

const struct exchange_backend exchange_rma_bruck = {
    GATHER(rma_bruck),
    .summary = "every word to all ranks, in log2(P) steps along a ring, by MPI_Put and MPI_Win_fence",
};
