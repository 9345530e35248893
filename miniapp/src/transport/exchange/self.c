/// \file
/// A lane within one rank: the send buffer becomes the receive buffer, and MPI is not called.
///
/// The words are copied, since the lane clears its send buffer right after finish() while the receive buffer
/// has to stay until they are delivered. Cost: one copy of the words of a window.

#include "transport/exchange.h"
#include <string.h>

/// The state: a copy of the words, since the send buffer is used again.
struct self {
    struct exchange common;
    struct word_buffer words; ///< the copy
};

/// Copies the words, all of them in one run.
static void self_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct word_buffer *copy = &((struct self *)exchange)->words;
    const uint32_t count = send_buffer_count(send_buffer, 0);
    word_buffer_reserve(copy, count);
    if (count) memcpy(copy->words, send_buffer_words(send_buffer, 0), count * sizeof *copy->words);
    receive_buffer_add(&exchange->receive_buffer, 0, copy->words, count);
}

/// Returns the bytes of the copy.
static size_t self_bytes(const struct exchange *exchange) {
    return ((const struct self *)exchange)->words.capacity * sizeof(uint32_t);
}

/// Frees it.
static void self_close(struct exchange *exchange) {
    word_buffer_close(&((struct self *)exchange)->words);
}

const struct exchange_backend exchange_self = {
    .name = "self",
    .summary = "within one rank, without MPI",
    .ranks_max = 1,
    .size = sizeof(struct self),
    .finish = self_finish,
    .bytes = self_bytes,
    .close = self_close,
};
