/// \file
/// A lane within one rank: the outbox becomes the inbox, and MPI is not called.

#include "base/alloc.h"
#include "transport/exchange.h"
#include <stdlib.h>
#include <string.h>

struct self {
    struct exchange common;
    struct joined kept;
};

static void self_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct joined *kept = &((struct self *)exchange)->kept;
    const uint32_t count = outbox_count(outbox, 0);
    joined_reserve(kept, count);
    if (count) memcpy(kept->words, outbox_words(outbox, 0), count * sizeof *kept->words);
    inbox_add(&exchange->inbox, 0, kept->words, count);
}

static size_t self_bytes(const struct exchange *exchange) {
    return ((const struct self *)exchange)->kept.capacity * sizeof(uint32_t);
}

static void self_close(struct exchange *exchange) {
    joined_close(&((struct self *)exchange)->kept);
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
