/// \file
/// Fills, enlarges and reads buffers of fixed size (see padded.h for what is in them).
///
/// padded_fill() writes the counts and words of all ranks before the exchange; padded_grow() looks after it
/// whether any rank had too little room, and takes larger buffers if so, in which the exchange is repeated;
/// padded_deliver() lets the receive buffer point into them. Cost of a window: all ranks x words of a buffer,
/// in memory as well, however few spikes there are.

#include "transport/exchange/padded.h"

#include "base/alloc.h"
#include "transport/communicator.h"
#include <string.h>

/// Words: the counts before the spikes, and those of a whole buffer at first, a line of the cache.
enum { header = 2, first_words = 16 };

/// Takes buffers of so many words for each rank, out and in.
static void padded_allocate(struct padded *x, uint64_t words) {
    x->words = mpi_count(words, "words of a padded buffer");
    x->sent = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * words);
    x->received = ALLOC_ZERO(uint32_t, (size_t)x->common.ranks * words);
}

void padded_open(struct exchange *exchange) {
    padded_allocate((struct padded *)exchange, first_words);
}

void padded_close(struct exchange *exchange) {
    FREE(((struct padded *)exchange)->sent, ((struct padded *)exchange)->received);
}

void padded_fill(struct padded *x, const struct send_buffer *send_buffer) {
    const int ranks = x->common.ranks;
    // The largest number of spikes that this rank has for any other: it goes into every header.
    uint32_t need = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const uint32_t count = send_buffer_count(send_buffer, rank);
        need = need < count ? count : need;
    }
    // A buffer that is too small stays without spikes; its header makes everybody enlarge.
    for (int rank = 0; rank < ranks; rank++) {
        uint32_t *buffer = x->sent + (size_t)rank * (size_t)x->words,
                 count = send_buffer_count(send_buffer, rank);
        buffer[0] = count;
        buffer[1] = need;
        if (header + count <= (uint32_t)x->words)
            memcpy(buffer + header, send_buffer_words(send_buffer, rank), count * sizeof *buffer);
    }
    x->common.traffic.messages += (uint64_t)ranks - 1;
    x->common.traffic.bytes += ((uint64_t)ranks - 1) * (size_t)x->words * sizeof *x->sent;
}

bool padded_grow(struct padded *x) {
    // What any sender had for any destination: each header of its buffers says it, so all ranks find the
    // same.
    uint64_t need = 0, words = (uint64_t)x->words;
    for (int rank = 0; rank < x->common.ranks; rank++) {
        const uint32_t other = x->received[(size_t)rank * (size_t)x->words + 1];
        need = need < other ? other : need;
    }
    if (header + need <= words) return false;
    while (words < header + need) words *= 2;
    // The cast in padded_close() is the other way round: `common` is the first member of struct padded.
    padded_close(&x->common);
    padded_allocate(x, words);
    return true;
}

// Buffers without spikes make no run.
void padded_deliver(struct padded *x) {
    for (int rank = 0; rank < x->common.ranks; rank++) {
        const uint32_t *buffer = x->received + (size_t)rank * (size_t)x->words;
        receive_buffer_add(&x->common.receive_buffer, rank, buffer + header, buffer[0]);
    }
}

size_t padded_bytes(const struct exchange *exchange) {
    return 2 * (size_t)exchange->ranks * (size_t)((const struct padded *)exchange)->words * sizeof(uint32_t);
}
