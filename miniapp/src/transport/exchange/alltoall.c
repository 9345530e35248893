/// \file
/// One MPI_Alltoall, as NEST does (Jordan et al. 2018). It is one call, but the padding travels too.
///
/// Buffers are equally large for all pairs of ranks (padded.h). A buffer that is too small for its spikes
/// says how many there are, so that all ranks see it, enlarge all buffers alike, and exchange once more.
/// Buffers never shrink. Cost of a window: all ranks x the largest number of spikes that any pair ever had in
/// a window, however few there are now.
///
/// This is the shortest back-end: read it first, then counted.c.

#include "transport/exchange/padded.h"

/// Does the whole exchange.
static void alltoall_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct padded *x = (struct padded *)exchange;
    do {
        padded_fill(x, send_buffer);
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
