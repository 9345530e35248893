/// \file
/// Buffers of fixed size, one for each rank, padding included: alltoall and persistent.
///
/// A buffer is a header and up to `room` spikes. The header says how many words follow, and how many the
/// sender has at most for any destination. So all ranks see alike whether some buffer overflows. All then
/// enlarge theirs to the next power of two and make a second round with everything in it.

#include "base/alloc.h"
#include "transport/exchange.h"
#include <stdlib.h>
#include <string.h>

enum { header = 2, first_words = 16 }; // of a buffer: first a cache line
enum { padded_rank_bytes = 2 * 64 };   ///< of the first buffers for a rank: a cache line out, one in

struct padded {
    struct exchange common;
    int words;                 ///< of a buffer, header included
    uint32_t *sent, *received; ///< [ranks][words]
    MPI_Request request;       ///< of persistent
};

static void padded_allocate(struct padded *x, uint64_t words) {
    x->words = mpi_count(words, "words of a padded buffer");
    x->sent = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * words);
    x->received = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * words);
}

static void padded_open(struct exchange *exchange) {
    padded_allocate((struct padded *)exchange, first_words);
}

static void padded_close(struct exchange *exchange) {
    FREE(((struct padded *)exchange)->sent, ((struct padded *)exchange)->received);
}

/// Copies the outbox into the buffers as far as it fits, and counts them as sent.
static void padded_fill(struct padded *x, const struct outbox *outbox) {
    const int ranks = x->common.ranks;
    uint32_t need = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const uint32_t count = outbox_count(outbox, rank);
        need = need < count ? count : need;
    }
    for (int rank = 0; rank < ranks; rank++) {
        uint32_t *buffer = x->sent + (size_t)rank * (size_t)x->words, count = outbox_count(outbox, rank);
        buffer[0] = count;
        buffer[1] = need;
        if (header + count <= (uint32_t)x->words)
            memcpy(buffer + header, outbox_words(outbox, rank), count * sizeof *buffer);
    }
    x->common.traffic.messages += (uint64_t)ranks - 1;
    x->common.traffic.bytes += ((uint64_t)ranks - 1) * (size_t)x->words * sizeof *x->sent;
}

/// Makes the buffers larger where any rank has more spikes for any other than fit, which the buffers received
/// say. What was there is lost. \return whether they were too small.
static bool padded_grow(struct padded *x) {
    uint64_t need = 0, words = (uint64_t)x->words;
    for (int rank = 0; rank < x->common.ranks; rank++) {
        const uint32_t other = x->received[(size_t)rank * (size_t)x->words + 1];
        need = need < other ? other : need;
    }
    if (header + need <= words) return false;
    while (words < header + need) words *= 2;
    padded_close(&x->common);
    padded_allocate(x, words);
    return true;
}

static void padded_deliver(struct padded *x) {
    for (int rank = 0; rank < x->common.ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (size_t)x->words;
        inbox_add(&x->common.inbox, rank, buffer + header, buffer[0]);
    }
}

static size_t padded_bytes(const struct exchange *exchange) {
    return 2 * (size_t)exchange->ranks * (size_t)((const struct padded *)exchange)->words * sizeof(uint32_t);
}

// -------------------- alltoall
// One MPI_Alltoall, as NEST does (Jordan et al. 2018). It is one call, but the padding travels too.

static void alltoall_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct padded *x = (struct padded *)exchange;
    do {
        padded_fill(x, outbox);
        MPI_Alltoall(x->sent, x->words, MPI_UINT32_T, x->received, x->words, MPI_UINT32_T, exchange->comm);
    } while (padded_grow(x));
    padded_deliver(x);
}

const struct exchange_backend exchange_alltoall = {
    .name = "alltoall",
    .summary = "MPI_Alltoall of buffers of fixed size, a second round with larger ones when one overflows",
    .rank_bytes = padded_rank_bytes,
    .size = sizeof(struct padded),
    .open = padded_open,
    .finish = alltoall_finish,
    .bytes = padded_bytes,
    .close = padded_close,
};

// -------------------- persistent
// A persistent collective of MPI 4 (MPI_Alltoall_init). MPI makes its arrangements for the buffers once, and
// again when they grow. The collective runs from start() to finish().

#if HAVE_PERSISTENT_COLLECTIVES

static void persistent_arrange(struct padded *x) {
    MPI_Alltoall_init(x->sent, x->words, MPI_UINT32_T, x->received, x->words, MPI_UINT32_T, x->common.comm,
                      MPI_INFO_NULL, &x->request);
}

static void persistent_open(struct exchange *exchange) {
    padded_open(exchange);
    persistent_arrange((struct padded *)exchange);
}

static void persistent_start(struct exchange *exchange, const struct outbox *outbox) {
    padded_fill((struct padded *)exchange, outbox);
    MPI_Start(&((struct padded *)exchange)->request);
}

static void persistent_progress(struct exchange *exchange, const struct outbox *outbox) {
    int complete;
    (void)outbox;
    MPI_Test(&((struct padded *)exchange)->request, &complete, MPI_STATUS_IGNORE);
}

static void persistent_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct padded *x = (struct padded *)exchange;
    for (MPI_Wait(&x->request, MPI_STATUS_IGNORE); padded_grow(x); MPI_Wait(&x->request, MPI_STATUS_IGNORE)) {
        MPI_Request_free(&x->request);
        persistent_arrange(x);
        persistent_start(exchange, outbox);
    }
    padded_deliver(x);
}

static void persistent_close(struct exchange *exchange) {
    MPI_Request_free(&((struct padded *)exchange)->request);
    padded_close(exchange);
}

#define PERSISTENT(...) __VA_ARGS__
#else
#define PERSISTENT(...) .absent = "this MPI library has no MPI_Alltoall_init (MPI 4)"
#endif

const struct exchange_backend exchange_persistent = {
    .name = "persistent",
    .summary = "MPI_Alltoall_init once, MPI_Start in each window; buffers of fixed size as in alltoall",
    PERSISTENT(.rank_bytes = padded_rank_bytes, .size = sizeof(struct padded), .open = persistent_open,
               .start = persistent_start, .progress = persistent_progress, .finish = persistent_finish,
               .bytes = padded_bytes, .close = persistent_close)};
