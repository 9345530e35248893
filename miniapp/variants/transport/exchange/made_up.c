/// \file
/// The exchange of a dry run, see transport/made_up.h.

#include "transport/made_up.h"

#include <string.h>

/// The state of the exchange.
struct made_up {
    struct exchange common;
    struct made_up_words expected; ///< borrowed
    struct word_buffer joined;
    size_t n; ///< words of the receive buffer
    uint64_t copied;
};

/// Adds words to the receive buffer, which come from `rank`. \return the end of these words.
static const uint32_t *add(struct made_up *x, int rank, const uint32_t *words, size_t count) {
    if (count == 0) return words;
    memcpy(x->joined.words + x->n, words, count * sizeof *words);
    receive_buffer_add(&x->common.receive_buffer, rank, x->joined.words + x->n, count);
    x->n += count;
    return words + count;
}

/// Copies the words at once, so that what was made up need not wait for the end of the exchange.
/// Copies the words at once, the own ones at the place of this rank in the order of ranks.
static void made_up_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct made_up *x = (struct made_up *)exchange;
    const struct made_up_words expected = x->expected;
    const int own = send_buffer->destinations > 1 ? exchange->rank : 0; // a broadcast has one destination
    const uint32_t own_count = send_buffer_count(send_buffer, own);
    size_t total = own_count, k = 0;
    for (size_t i = 0; i < expected.runs; i++) total += expected.run[i].count;
    word_buffer_reserve(&x->joined, total);
    x->n = 0;
    const uint32_t *words = expected.words;
    // Ranks below this one, then this one, then those above.
    for (; k < expected.runs && expected.run[k].rank < exchange->rank; k++)
        words = add(x, expected.run[k].rank, words, expected.run[k].count);
    add(x, exchange->rank, send_buffer_words(send_buffer, own), own_count);
    for (; k < expected.runs; k++) words = add(x, expected.run[k].rank, words, expected.run[k].count);
    x->copied += total;
}

static void made_up_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    (void)exchange, (void)send_buffer; // made_up_start() has done it all
}

static size_t made_up_bytes(const struct exchange *exchange) {
    return ((const struct made_up *)exchange)->joined.capacity * sizeof(uint32_t);
}

static void made_up_close(struct exchange *exchange) {
    word_buffer_close(&((struct made_up *)exchange)->joined);
}

static const struct exchange_backend made_up = {
    .name = "made up",
    .summary = "copies made-up words; of dry runs only",
    .size = sizeof(struct made_up),
    .start = made_up_start,
    .finish = made_up_finish,
    .bytes = made_up_bytes,
    .close = made_up_close,
};

struct exchange *made_up_open(int ranks, int own, int sources) {
    struct exchange *exchange = exchange_open(&(struct exchange_spec){.backend = &made_up}, MPI_COMM_SELF,
                                              &(struct partners){.n_targets = 0});
    exchange->rank = own;
    exchange->ranks = ranks;
    receive_buffer_close(&exchange->receive_buffer);
    receive_buffer_open(&exchange->receive_buffer, sources);
    return exchange;
}

void made_up_expect(struct exchange *exchange, struct made_up_words words) {
    ((struct made_up *)exchange)->expected = words;
}

uint64_t made_up_copied(const struct exchange *exchange) {
    return ((const struct made_up *)exchange)->copied;
}
