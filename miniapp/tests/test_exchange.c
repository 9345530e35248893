/// \file
/// Every exchange back-end brings every word from the rank that sent it to the rank it was meant for, once.

#include "support.h"

#include "base/alloc.h"
#include <stdlib.h>

/// How many words `from` sends to `to` in window number `window` of a pattern.
typedef uint32_t (*pattern)(int from, int to, int ranks, uint32_t window);

static uint32_t nothing(int from, int to, int ranks, uint32_t window) {
    return (void)from, (void)to, (void)ranks, (void)window, 0;
}

static uint32_t uneven(int from, int to, int ranks, uint32_t window) {
    return (uint32_t)(from * 7 + to * 3 + ranks) * (window + 1) % 23;
}

static uint32_t one_sends_all(int from, int to, int ranks, uint32_t window) {
    return (void)to, from == (int)(window % (uint32_t)ranks) ? 40 : 0;
}

static uint32_t to_the_next(int from, int to, int ranks, uint32_t window) {
    return to == (from + 1) % ranks ? 5 + window % 3 : 0;
}

/// Small windows with a burst every tenth, beyond any buffer made so far.
static uint32_t bursts(int from, int to, int ranks, uint32_t window) {
    return window % 10 == 9 ? (window + 1) * 20 + (uint32_t)((from + to) % ranks) : 1;
}

static uint32_t word_of(int from, int to, uint32_t window, uint32_t number) {
    return (uint32_t)from << 24 ^ (uint32_t)to << 18 ^ window << 8 ^ number;
}

static void check_window(struct exchange *exchange, struct outbox *outbox, pattern count, uint32_t window) {
    const int rank = exchange->rank, ranks = exchange->ranks;
    outbox_clear(outbox);
    for (int to = 0; to < ranks; to++)
        for (uint32_t i = 0; i < count(rank, to, ranks, window); i++)
            outbox_add(outbox, to, word_of(rank, to, window, i));
    exchange_start(exchange, outbox);
    exchange_finish(exchange, outbox);
    assert_int_equal(exchange->inbox.runs, ranks);
    for (int from = 0; from < ranks; from++) {
        struct inbox_run run = exchange->inbox.run[from];
        assert_int_equal(run.count, count(from, rank, ranks, window));
        for (uint32_t i = 0; i < run.count; i++)
            assert_int_equal(run.words[i], word_of(from, rank, window, i));
    }
}

/// Opens every back-end that serves the ranks of the world, with an outbox, and hands them to `check`.
static void for_each_backend(void (*check)(struct exchange *, struct outbox *)) {
    int ranks, own, others[64], n = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    for (int rank = 0; rank < ranks; rank++)
        if (rank != own) others[n++] = rank;
    const struct partners everyone = {n, n, others, others};
    for (int x = 0; exchange_backends[x]; x++) {
        if (exchange_backends[x]->ranks_max && exchange_backends[x]->ranks_max < ranks) continue;
        struct exchange *exchange = exchange_open(&(struct exchange_spec){.backend = exchange_backends[x]},
                                                  MPI_COMM_WORLD, &everyone);
        struct outbox outbox;
        outbox_open(&outbox, ranks, 4);
        check(exchange, &outbox);
        outbox_close(&outbox);
        exchange_close(exchange);
    }
}

static void check_patterns(struct exchange *exchange, struct outbox *outbox) {
    static const pattern patterns[] = {nothing, uneven, one_sends_all, to_the_next, bursts};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (uint32_t window = 0; window < 40; window++) check_window(exchange, outbox, patterns[p], window);
}

static void every_backend_delivers_every_pattern(void **state) {
    (void)state;
    for_each_backend(check_patterns);
}

static void check_memory(struct exchange *exchange, struct outbox *outbox) {
    for (uint32_t window = 0; window < 100; window++) check_window(exchange, outbox, uneven, window);
    size_t bytes = exchange->spec.backend->bytes(exchange), capacity = outbox->capacity;
    for (uint32_t window = 0; window < 2000; window++) check_window(exchange, outbox, uneven, window % 100);
    assert_int_equal(exchange->spec.backend->bytes(exchange), bytes);
    assert_int_equal(outbox->capacity, capacity);
}

static void memory_stays_when_the_load_stays(void **state) {
    (void)state;
    for_each_backend(check_memory);
}

static void check_traffic(struct exchange *exchange, struct outbox *outbox) {
    uint64_t words = 0;
    for (uint32_t window = 0; window < 10; window++) {
        check_window(exchange, outbox, uneven, window);
        for (int to = 0; to < exchange->ranks; to++)
            if (to != exchange->rank) words += uneven(exchange->rank, to, exchange->ranks, window);
    }
    assert_true(exchange->traffic.bytes >= 4 * words);
    assert_true((exchange->traffic.messages > 0) == (exchange->ranks > 1));
}

static void traffic_counts_only_other_ranks(void **state) {
    (void)state;
    for_each_backend(check_traffic);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_delivers_every_pattern),
        cmocka_unit_test(memory_stays_when_the_load_stays),
        cmocka_unit_test(traffic_counts_only_other_ranks),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
