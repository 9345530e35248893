/// \file
/// For the ranks of one node: a rank writes its spikes into its own segment of shared memory
/// (MPI_Win_allocate_shared, MPI 3.0), and its receivers read them there. There is one barrier per window and
/// no copy at the receiver. This follows the hybrid programming "MPI + MPI" of Hoefler et al. (2013).
///
/// A segment is one cache line that says what its rank needs, and two halves, which are used in turns. A half
/// is an index and room for `room` words: those for rank r lie from index[r] up to index[r + 1]. A rank can
/// write into a half again only after the barrier of the window between. Its readers enter that barrier when
/// they have done with the words of the window before. So the receive buffer can point into the segments. For
/// the same reason the needs have two halves: a fast rank may be a window ahead of one that still reads.
///
/// A rank whose words do not fit says so instead of writing them. After the barrier all ranks see the same
/// largest need, make larger segments and begin again. Nothing else writes to the lines of needs, so they
/// stay in the caches of all ranks.

#include "base/alloc.h"
#include "transport/communicator.h"
#include "transport/exchange.h"
#include <string.h>

#if HAVE_WIN_SYNC

/// Words of a cache line, and those for which a half has room at first. Room doubles when it is too little.
enum { cache_line = 16, first_room = 64 };

/// The state of the exchange.
struct shared {
    struct exchange common; ///< first, so that a pointer to one is a pointer to the other
    int n_read;             ///< ranks to read from
    int *read;              ///< [n_read] ranks to read from: sources and this rank
    uint32_t room;          ///< words that a half holds besides the index
    uint32_t half;          ///< 0 or 1, in use
    MPI_Win handle;         ///< of all segments
    uint32_t **segments;    ///< [ranks] where the segment of each rank is mapped; the list is owned
};

/// Returns the number of words of a half.
static size_t half_words(const struct shared *x) {
    size_t index = (size_t)x->common.ranks + 1;
    return (index + cache_line - 1) / cache_line * cache_line + x->room;
}

/// Returns the index of the half of a rank that is in use.
static uint32_t *index_of(const struct shared *x, int rank) {
    return x->segments[rank] + cache_line + x->half * half_words(x);
}

/// Returns the words of the half of a rank that is in use.
static uint32_t *words_of(const struct shared *x, int rank) {
    return index_of(x, rank) + half_words(x) - x->room;
}

/// Returns the bytes of a segment.
static size_t segment_bytes(const struct shared *x) {
    return (cache_line + 2 * half_words(x)) * sizeof(uint32_t);
}

static size_t shared_bytes(const struct exchange *exchange) {
    const struct shared *x = (const struct shared *)exchange;
    return segment_bytes(x) + (size_t)exchange->ranks * sizeof *x->segments +
           (size_t)x->n_read * sizeof *x->read;
}

/// Collective.
static void open_segments(struct shared *x, uint32_t room) {
    struct exchange *exchange = &x->common;
    MPI_Info info;
    void *own;
    x->room = room;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true"); // each segment in pages near its rank
    MPI_Win_allocate_shared((MPI_Aint)segment_bytes(x), sizeof(uint32_t), info, exchange->comm, &own,
                            &x->handle);
    MPI_Info_free(&info);
    memset(own, 0, segment_bytes(x));
    for (int rank = 0; rank < exchange->ranks; rank++) {
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(x->handle, rank, &size, &unit, &x->segments[rank]);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, x->handle); // MPI_Win_sync asks for an epoch
}

/// Closes the segments. Collective; returns when all ranks have done with them.
static void close_segments(struct shared *x) {
    MPI_Win_unlock_all(x->handle);
    MPI_Win_free(&x->handle);
}

/// Notes from which ranks to read, and opens the first segments. Collective.
static void shared_open(struct exchange *exchange) {
    struct shared *x = (struct shared *)exchange;
    const struct partners *partners = &exchange->partners;
    exchange->connections = partners->n_targets;
    x->n_read = partners->n_sources + 1;
    x->read = ALLOC(int, (size_t)x->n_read);
    x->read[0] = exchange->rank;
    for (int i = 0; i < partners->n_sources; i++) x->read[i + 1] = partners->sources[i];
    x->segments = ALLOC(uint32_t *, (size_t)exchange->ranks);
    open_segments(x, first_room);
}

/// Writes the index and the words of this rank into its segment, or only how many they are.
static void shared_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct shared *x = (struct shared *)exchange;
    uint32_t *index = index_of(x, exchange->rank), *words = words_of(x, exchange->rank);
    uint64_t sum = index[0] = 0;
    for (int rank = 0; rank < exchange->ranks; rank++)
        index[rank + 1] = (uint32_t)(sum += send_buffer_count(send_buffer, rank));
    mpi_count(sum, "words of a segment");
    // Too little room: all ranks will see this after the barrier.
    if (index[exchange->ranks] > x->room) {
        x->segments[exchange->rank][x->half] = index[exchange->ranks];
        return;
    }
    for (int rank = 0; rank < exchange->ranks; rank++) {
        size_t count_bytes = send_buffer_count(send_buffer, rank) * sizeof *words;
        if (count_bytes == 0) continue;
        memcpy(words + index[rank], send_buffer_words(send_buffer, rank), count_bytes);
        if (rank == exchange->rank) continue;
        exchange->traffic.messages++;
        exchange->traffic.bytes += count_bytes;
    }
    exchange->traffic.bytes += ((uint64_t)exchange->ranks - 1) * sizeof *index;
}

/// Makes sure that all ranks see afterwards what any of them has written.
static void synchronise(struct shared *x) {
    MPI_Win_sync(x->handle);
    MPI_Barrier(x->common.comm);
    MPI_Win_sync(x->handle);
}

/// Meets the other ranks, enlarges the segments if any rank asks for it, and reads.
static void shared_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct shared *x = (struct shared *)exchange;
    synchronise(x);
    uint32_t need = 0;
    for (int rank = 0; rank < exchange->ranks; rank++)
        if (need < x->segments[rank][x->half]) need = x->segments[rank][x->half];
    if (need > 0) {
        uint32_t room = x->room;
        while (room < need) room *= 2;
        close_segments(x);
        open_segments(x, room);
        shared_start(exchange, send_buffer);
        synchronise(x);
    }
    for (int i = 0; i < x->n_read; i++) {
        int rank = x->read[i];
        const uint32_t *index = index_of(x, rank) + exchange->rank;
        receive_buffer_add(&exchange->receive_buffer, rank, words_of(x, rank) + index[0],
                           index[1] - index[0]);
    }
    x->half ^= 1;
}

static void shared_close(struct exchange *exchange) {
    struct shared *x = (struct shared *)exchange;
    close_segments(x);
    FREE(x->read, x->segments);
}

const struct exchange_backend exchange_shared = {
    .name = "shared",
    .summary = "ranks of one node read each other's spikes in shared memory, one barrier a window",
    .one_node = true,
    .rank_bytes = 2 * sizeof(uint32_t) + sizeof(uint32_t *), // of both indices, and where its segment lies
    .size = sizeof(struct shared),
    .open = shared_open,
    .start = shared_start,
    .finish = shared_finish,
    .bytes = shared_bytes,
    .close = shared_close,
};

#else

const struct exchange_backend exchange_shared = {
    .name = "shared",
    .summary = "ranks of one node read each other's spikes in shared memory, one barrier a window",
    .absent = "this MPI library has no MPI_Win_sync",
};

#endif
