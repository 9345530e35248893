/// \file
/// A lane within one rank: the outbox becomes the inbox, and MPI is not called.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct self {
    struct exchange common;
    uint32_t *words;
    uint32_t capacity;
};

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct self *self = (struct self *)exchange;
    const uint32_t count = outbox_count(outbox, 0);
    if (self->capacity < count) {
        free(self->words);
        self->capacity = 2 * count;
        self->words = ALLOC(uint32_t, self->capacity);
    }
    if (count) memcpy(self->words, outbox_words(outbox, 0), count * sizeof *self->words);
    exchange->inbox.run[0] = (struct inbox_run){self->words, count};
}

static size_t bytes(const struct exchange *exchange) {
    return ((const struct self *)exchange)->capacity * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    free(((struct self *)exchange)->words);
}

const struct exchange_backend exchange_self = {
    .name = "self",
    .summary = "within one rank, without MPI",
    .ranks_max = 1,
    .size = sizeof(struct self),
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
