/// \file
/// The exchange of a dry run, see transport/made_up.h.

#include "transport/made_up.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct made_up {
    struct exchange common;
    const struct inbox_run *expected; ///< [ranks], borrowed
    uint32_t *words;
    size_t capacity; ///< of `words`; grows, never shrinks
    uint64_t copied;
};

/// Copies the words at once, so that what was made up need not wait for the end of the exchange.
static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct made_up *x = (struct made_up *)exchange;
    const int own = outbox->ranks > 1 ? exchange->rank : 0; // a broadcast has one destination
    size_t total = outbox_count(outbox, own), n = 0;
    for (int rank = 0; rank < exchange->ranks; rank++) total += x->expected[rank].count;
    if (total > x->capacity) {
        free(x->words);
        x->capacity = 2 * total;
        x->words = ALLOC(uint32_t, x->capacity);
    }
    for (int rank = 0; rank < exchange->ranks; rank++) {
        struct inbox_run run = x->expected[rank];
        if (rank == exchange->rank)
            run = (struct inbox_run){outbox_words(outbox, own), outbox_count(outbox, own)};
        if (run.count) memcpy(x->words + n, run.words, run.count * sizeof *x->words);
        exchange->inbox.run[rank] = (struct inbox_run){x->words + n, run.count};
        n += run.count;
    }
    x->copied += total;
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    (void)exchange, (void)outbox; // start() has done it all
}

static size_t bytes(const struct exchange *exchange) {
    return ((const struct made_up *)exchange)->capacity * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    free(((struct made_up *)exchange)->words);
}

static const struct exchange_backend made_up = {
    .name = "made up",
    .summary = "copies made-up words; of dry runs only",
    .size = sizeof(struct made_up),
    .start = start,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};

struct exchange *made_up_open(int ranks, int own) {
    struct exchange *exchange = exchange_open(&(struct exchange_spec){.backend = &made_up}, MPI_COMM_SELF,
                                              &(struct partners){.n_targets = 0});
    exchange->rank = own;
    exchange->ranks = ranks;
    free(exchange->inbox.run);
    exchange->inbox = (struct inbox){ranks, ALLOC_ZERO(struct inbox_run, (size_t)ranks)};
    return exchange;
}

void made_up_expect(struct exchange *exchange, const struct inbox_run *runs) {
    ((struct made_up *)exchange)->expected = runs;
}

uint64_t made_up_words(const struct exchange *exchange) {
    return ((const struct made_up *)exchange)->copied;
}
