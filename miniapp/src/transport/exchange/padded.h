/// \file
/// Buffers of fixed size, one for each rank, padding included. alltoall and persistent have them in common.
///
/// A buffer is a header and up to `room` spikes. The header says how many words follow, and how many the
/// sender has at most for any destination. So all ranks see alike whether some buffer overflows.

#ifndef TRANSPORT_EXCHANGE_PADDED_H
#define TRANSPORT_EXCHANGE_PADDED_H

#include "transport/exchange.h"

enum { padded_rank_bytes = 2 * 64 }; ///< of the first buffers for a rank: a cache line out, one in

struct padded {
    int ranks, words;          ///< of a buffer, header included
    uint32_t room;             ///< spikes that a buffer holds
    uint32_t *sent, *received; ///< [ranks][words]
};

/// Opens buffers of one cache line each.
void padded_open(struct padded *padded, int ranks);

/// Makes the buffers larger, by powers of two, until `need` spikes fit. What was there is lost.
void padded_make_room(struct padded *padded, uint32_t need);

/// Copies the outbox into the buffers as far as it fits, and counts them as sent.
void padded_fill(struct padded *padded, const struct outbox *outbox, struct exchange *exchange);

/// Returns the largest number of spikes that any rank has for any other, from the buffers that were received.
uint32_t padded_need(const struct padded *padded);

/// Lets the inbox point at the buffers that were received.
void padded_deliver(const struct padded *padded, struct inbox *inbox);

size_t padded_bytes(const struct padded *padded);
void padded_close(struct padded *padded);

#endif
