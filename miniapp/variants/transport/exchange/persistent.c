/// \file
/// A persistent collective of MPI 4 (MPI_Alltoall_init). MPI makes its arrangements for the buffers once,
/// and again when they grow. The collective runs from start() to finish().

#include "transport/exchange/padded.h"

#if HAVE_PERSISTENT_COLLECTIVES

/// The state: the buffers, and the collective that MPI has arranged for them.
struct persistent {
    struct padded padded;
    MPI_Request request; ///< of MPI_Alltoall_init
};

/// Lets MPI arrange the collective for the buffers as they are now.
static void persistent_arrange(struct persistent *x) {
    const struct padded *buffers = &x->padded;
    MPI_Alltoall_init(buffers->sent, buffers->words, MPI_UINT32_T, buffers->received, buffers->words,
                      MPI_UINT32_T, buffers->common.comm, MPI_INFO_NULL, &x->request);
}

/// Takes the first buffers and arranges the collective.
static void persistent_open(struct exchange *exchange) {
    padded_open(exchange);
    persistent_arrange((struct persistent *)exchange);
}

/// Fills the buffers and starts the collective.
static void persistent_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    padded_fill((struct padded *)exchange, send_buffer);
    MPI_Start(&((struct persistent *)exchange)->request);
}

/// Lets MPI work on it.
static void persistent_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    int complete;
    (void)send_buffer;
    MPI_Test(&((struct persistent *)exchange)->request, &complete, MPI_STATUS_IGNORE);
}

/// Completes it; where a buffer overflows, enlarges all, arranges it anew and runs it once more.
static void persistent_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct persistent *x = (struct persistent *)exchange;
    for (MPI_Wait(&x->request, MPI_STATUS_IGNORE); padded_grow(&x->padded);
         MPI_Wait(&x->request, MPI_STATUS_IGNORE)) {
        MPI_Request_free(&x->request);
        persistent_arrange(x);
        persistent_start(exchange, send_buffer);
    }
    padded_deliver(&x->padded);
}

/// Frees the request before its buffers.
static void persistent_close(struct exchange *exchange) {
    MPI_Request_free(&((struct persistent *)exchange)->request);
    padded_close(exchange);
}

#define PERSISTENT(...) __VA_ARGS__
#else
#define PERSISTENT(...) .absent = "this MPI library has no MPI_Alltoall_init (MPI 4)"
#endif

const struct exchange_backend exchange_persistent = {
    .name = "persistent",
    .summary = "MPI_Alltoall_init once, MPI_Start in each window; buffers of fixed size as in alltoall",
    PERSISTENT(.rank_bytes = padded_rank_bytes, .size = sizeof(struct persistent), .open = persistent_open,
               .start = persistent_start, .progress = persistent_progress, .finish = persistent_finish,
               .bytes = padded_bytes, .close = persistent_close)};
