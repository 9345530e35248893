/// \file
/// Buffers of fixed size, one for each rank, padding included: the state of alltoall, and of variants that
/// send such buffers by other calls.
///
/// A buffer is a header and up to `room` spikes. The header says how many words follow, and how many the
/// sender has at most for any destination. So all ranks see alike whether some buffer overflows. All then
/// enlarge theirs to the next power of two and make a second round with everything in it.

#pragma once

#include "transport/exchange.h"

enum { padded_rank_bytes = 2 * 64 }; ///< of the first buffers for a rank: a cache line out, one in

/// The buffers of a back-end, whose own struct is or begins with this one.
struct padded {
    struct exchange common;    ///< first, so that a pointer to one is a pointer to the other
    int words;                 ///< of a buffer, header included
    uint32_t *sent, *received; ///< [ranks][words]
};

/// Takes the first buffers: open() of a back-end.
void padded_open(struct exchange *exchange);

/// Frees the buffers.
void padded_close(struct exchange *exchange);

/// Copies the send buffer into the buffers as far as it fits, and counts them as sent.
void padded_fill(struct padded *x, const struct send_buffer *send_buffer);

/// Makes the buffers larger where any rank has more spikes for any other than fit, which the buffers received
/// say. What was there is lost. \return whether they were too small.
bool padded_grow(struct padded *x);

/// Lets the receive buffer point at the spikes in the buffers that arrived.
void padded_deliver(struct padded *x);

/// Returns the bytes of the buffers: bytes() of a back-end.
size_t padded_bytes(const struct exchange *exchange);
