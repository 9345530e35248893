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
#include <stdlib.h>
#include <string.h>

/// Memory of every rank that the others may put into between fences. MPI calls it a window; here a window is
/// always a span of cycles.
struct rma_memory {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

static size_t rma_memory_bytes(const struct rma_memory *memory) {
    return memory->count * sizeof *memory->words;
}

static int on_one_node(MPI_Comm comm) {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const int ranks = comm_size(comm), here = comm_size(node);
    MPI_Comm_free(&node);
    return ranks == here;
}

/// Opens memory of `count` words, which may differ between ranks. Collective; ends with the fence that opens
/// the first epoch.
static void rma_memory_open(struct rma_memory *memory, MPI_Comm comm, size_t count) {
    memory->count = count;
    const MPI_Aint bytes = (MPI_Aint)rma_memory_bytes(memory);
    const int unit = sizeof *memory->words;
    MPI_Info info;
    MPI_Info_create(&info);
    // The memory of each rank lies in pages near it. Besides, MPICH 4.0.2 loses puts into the other kind of
    // MPI_Win_allocate where the size is no multiple of 16 bytes.
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    // A put into memory that is declared shared is a copy. Besides, up to Open MPI 4.1, other memory that is
    // made at the same time over communicators without a common rank can be mixed up on a node (ompi issue
    // 9492).
    if (on_one_node(comm))
        MPI_Win_allocate_shared(bytes, unit, info, comm, &memory->words, &memory->handle);
    else
        MPI_Win_allocate(bytes, unit, info, comm, &memory->words, &memory->handle);
    MPI_Info_free(&info);
    memset(memory->words, 0, rma_memory_bytes(memory));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, memory->handle);
}

/// Closes the memory. Collective; returns when all ranks have done with it.
static void rma_memory_close(struct rma_memory *memory) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, memory->handle);
    MPI_Win_free(&memory->handle);
}

enum { cache_line = 16, header = 1, first_room = cache_line - header }; // words

struct rma_put {
    struct exchange common;
    int n_targets, n_sources;
    int *targets, *sources;
    int *place;               ///< [n_targets] of this rank among the sources of each target
    uint32_t room;            ///< words that a slot holds besides the header
    uint32_t half;            ///< 0 or 1, in use
    uint32_t need;            ///< what this rank tells the others; must stay until the fence
    struct rma_memory memory; ///< a cache line with the needs of both halves, then slots [n_sources][2]
    uint32_t *sent;           ///< [n_targets][header + room]
    struct joined own;        ///< words from this rank to itself
};

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
    open_slots(x, first_room);
}

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

static void rma_put_start(struct exchange *exchange, const struct outbox *outbox) {
    struct rma_put *x = (struct rma_put *)exchange;
    x->need = 0;
    for (int i = 0; i < x->n_targets; i++) {
        const uint32_t count = outbox_count(outbox, x->targets[i]);
        x->need = x->need < count ? count : x->need;
    }
    if (x->need > x->room) {
        tell_need(x);
        return;
    }
    for (int i = 0; i < x->n_targets; i++) {
        const int target = x->targets[i];
        const size_t count = outbox_count(outbox, target);
        uint32_t *buffer = x->sent + (size_t)i * (header + x->room);
        buffer[0] = (uint32_t)count;
        memcpy(buffer + header, outbox_words(outbox, target), count * sizeof *buffer);
        put(x, buffer, header + count, target, slot(x, x->place[i]));
    }
}

static void rma_put_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct rma_put *x = (struct rma_put *)exchange;
    MPI_Win_fence(0, x->memory.handle);
    uint32_t need = x->memory.words[x->half];
    if (need > x->room) {
        uint32_t words = header + x->room;
        while (words < header + need) words *= 2;
        close_slots(x);
        open_slots(x, words - header);
        rma_put_start(exchange, outbox);
        MPI_Win_fence(0, x->memory.handle);
    }
    for (int i = 0; i < x->n_sources; i++) {
        const uint32_t *buffer = x->memory.words + slot(x, i);
        inbox_add(&exchange->inbox, x->sources[i], buffer + header, buffer[0]);
    }
    const uint32_t own = outbox_count(outbox, exchange->rank);
    joined_reserve(&x->own, own);
    if (own) memcpy(x->own.words, outbox_words(outbox, exchange->rank), own * sizeof *x->own.words);
    inbox_add(&exchange->inbox, exchange->rank, x->own.words, own);
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
    joined_close(&x->own);
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

// -------------------- rma_doubling
// Allgathers by MPI_Put between fences, which Shehzad and Bozkus (2016) put in the place of MPI_Allgather in
// NEURON. Both take about log2(P) steps, and what a rank puts doubles with each.
//
// rma_doubling is recursive doubling as their algorithms 1 and 2 have it: in step k ranks work in pairs that
// lie 2^(k-1) apart. Each puts all blocks that it has into the memory of the other, and a fence ends the
// step. That serves a power of two of ranks. Of other numbers, the ranks beyond the largest power C below it
// first put their block into rank - C, which takes it along, and gets back all blocks in a last step.
//
// rma_bruck needs no pairs (Bruck et al. 1997): in the step of distance m, a rank puts its first m blocks
// into the memory of the rank m above it (modulo P), and the last step puts those that are still missing.
// Block i of a rank belongs to the rank i below it.
//
// A block is a header, which says how many words follow, and room for `room` words, used or not. After the
// last step all ranks have all headers. Where one of them asks for more room than there is, all ranks
// enlarge their memory alike and begin again. Blocks have two halves, which are used in turns. A rank can
// put into a half again only after a fence of the window between. The receiver enters that fence when it has
// done with the words of the window before. So no fence is needed to open an epoch. A rank puts its own
// block, too, instead of storing it: while others may put into the same memory, MPI allows no stores there
// unless the memory model is unified.

struct rma_gather {
    struct exchange common;
    uint32_t room;            ///< words that a block holds besides the header
    uint32_t half;            ///< 0 or 1, in use
    struct rma_memory memory; ///< blocks [2][ranks][header + room]
    uint32_t *own;            ///< [header + room] the block of this rank
    int core;                 ///< ranks that double: the largest power of two among them
};

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

static const uint32_t *blocks_from(const struct rma_gather *x, int first) {
    return x->memory.words + block(x, first);
}

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
static uint32_t gather(struct rma_gather *x, const struct outbox *outbox,
                       void (*steps)(struct rma_gather *)) {
    uint32_t need = 0;
    x->own[0] = outbox_count(outbox, 0);
    if (x->own[0] <= x->room) memcpy(x->own + header, outbox_words(outbox, 0), x->own[0] * sizeof *x->own);
    steps(x);
    for (int i = 0; i < x->common.ranks; i++) {
        const uint32_t count = *blocks_from(x, i);
        need = need < count ? count : need;
    }
    return need;
}

/// Gathers all blocks, with more room if they need it.
static void gather_all(struct rma_gather *x, const struct outbox *outbox,
                       void (*steps)(struct rma_gather *)) {
    const uint32_t need = gather(x, outbox, steps);
    if (need <= x->room) return;
    uint32_t words = header + x->room;
    while (words < header + need) words *= 2;
    close_blocks(x);
    open_blocks(x, words - header);
    gather(x, outbox, steps);
}

static void rma_doubling_open(struct exchange *exchange) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    const int ranks = exchange->ranks, rank = exchange->rank;
    exchange->connections = 0;
    for (x->core = 1; 2 * x->core <= ranks; x->core *= 2) exchange->connections++;
    if (rank >= x->core) exchange->connections = 1;
    if (rank + x->core < ranks) exchange->connections++;
    open_blocks(x, first_room);
}

static void rma_doubling_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    gather_all(x, outbox, double_blocks);
    for (int rank = 0; rank < exchange->ranks; rank++)
        inbox_add(&exchange->inbox, rank, blocks_from(x, rank) + header, *blocks_from(x, rank));
    x->half ^= 1;
}

static void rma_bruck_open(struct exchange *exchange) {
    exchange->connections = 0;
    for (int m = 1; m < exchange->ranks; m *= 2) exchange->connections++;
    open_blocks((struct rma_gather *)exchange, first_room);
}

static void rma_bruck_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct rma_gather *x = (struct rma_gather *)exchange;
    gather_all(x, outbox, pass_blocks_on);
    for (int i = 0; i < exchange->ranks; i++) {
        const int rank = (exchange->rank - i + exchange->ranks) % exchange->ranks;
        inbox_add(&exchange->inbox, rank, blocks_from(x, i) + header, *blocks_from(x, i));
    }
    x->half ^= 1;
}

static void rma_gather_close(struct exchange *exchange) {
    close_blocks((struct rma_gather *)exchange);
}

#define GATHER(back_end)                                                                                     \
    .name = #back_end, .broadcast = true, .rank_bytes = 2 * (header + first_room) * sizeof(uint32_t),        \
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
