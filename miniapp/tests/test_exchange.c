/// \file
/// Every exchange back-end brings every word from the rank that sent it to the rank it was meant for, once,
/// whoever is whose partner and however late some ranks are.

#include "exchange_patterns.h"
#include "support.h"

#include "base/alloc.h"
#include "transport/exchange_check.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// An exchange, what goes through it and how it was received.
struct bench {
    struct exchange *exchange;
    struct outbox outbox;
    topology *linked;
    uint32_t key;    ///< distinguishes the words of two benches
    uint64_t others; ///< words meant for other ranks so far; a broadcast's count for each of them
    uint64_t faults; ///< runs and words that were not as expected, on this rank
};

static void bench_open(struct bench *bench, const struct exchange_backend *backend, topology *linked,
                       uint32_t key) {
    int ranks, own, targets[ranks_max], sources[ranks_max];
    struct partners partners = {.targets = targets, .sources = sources};
    struct exchange_spec spec = exchange_plain(backend);
    if (backend->composed) spec.levels.part[1] = exchange_find("p2p");
    if (backend->ragged) spec.levels.size[0] = 2;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    for (int rank = 0; rank < ranks; rank++) {
        if (rank != own && linked(own, rank, ranks)) targets[partners.n_targets++] = rank;
        if (rank != own && linked(rank, own, ranks)) sources[partners.n_sources++] = rank;
    }
    *bench = (struct bench){.linked = linked, .key = key};
    MPI_Comm comm; // as lanes have it: without the attributes of MPI_COMM_WORLD
    MPI_Comm_split(MPI_COMM_WORLD, 0, own, &comm);
    bench->exchange = exchange_open(&spec, comm, &partners);
    MPI_Comm_free(&comm);
    outbox_open(&bench->outbox, exchange_destinations(backend, ranks));
}

/// \return the faults of all ranks. Tests judge these: a rank that stopped alone would leave the others
/// waiting.
static uint64_t bench_close(struct bench *bench) {
    exchange_close(bench->exchange);
    outbox_close(&bench->outbox);
    MPI_Allreduce(MPI_IN_PLACE, &bench->faults, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return bench->faults;
}

static void expect_no_faults(uint64_t faults, const struct exchange_backend *backend, int topology_number) {
    if (faults)
        fail_msg("%s, topology %d: %llu faults", backend->name, topology_number, (unsigned long long)faults);
}

static uint32_t word_of(const struct bench *bench, int from, int to, uint32_t window, uint32_t number) {
    return ((uint32_t)from << 24 ^ (uint32_t)to << 18 ^ window << 8 ^ number) + bench->key;
}

/// Returns the words for a destination of the outbox; the only one of a broadcast is number 0.
static uint32_t count_of(const struct bench *bench, pattern *count, int from, int to, uint32_t window) {
    const struct exchange *exchange = bench->exchange;
    bool linked = exchange->spec.backend->broadcast || from == to || bench->linked(from, to, exchange->ranks);
    return linked ? count(from, to, exchange->ranks, window) : 0;
}

static void fill_and_start(struct bench *bench, pattern *count, uint32_t window) {
    struct exchange *exchange = bench->exchange;
    outbox_clear(&bench->outbox);
    for (int to = 0; to < bench->outbox.ranks; to++) {
        uint32_t n = count_of(bench, count, exchange->rank, to, window);
        for (uint32_t i = 0; i < n; i++)
            outbox_add(&bench->outbox, to, word_of(bench, exchange->rank, to, window, i));
        if (exchange->spec.backend->broadcast)
            bench->others += (uint64_t)(exchange->ranks - 1) * n;
        else if (to != exchange->rank)
            bench->others += n;
    }
    exchange_start(exchange, &bench->outbox);
}

static void finish_and_compare(struct bench *bench, pattern *count, uint32_t window) {
    struct exchange *exchange = bench->exchange;
    struct outbox *outbox = &bench->outbox;
    exchange_finish(exchange, outbox);
    // The inbox must not need the outbox any more.
    memset(outbox->words, 0xA5, outbox->capacity * sizeof *outbox->words);
    bench->faults += exchange->inbox.runs != exchange->ranks;
    for (int from = 0; from < exchange->ranks; from++) {
        int to = exchange->spec.backend->broadcast ? 0 : exchange->rank;
        struct inbox_run run = exchange->inbox.run[from];
        if (run.count != count_of(bench, count, from, to, window)) {
            bench->faults++;
            continue;
        }
        for (uint32_t i = 0; i < run.count; i++)
            bench->faults += run.words[i] != word_of(bench, from, to, window, i);
    }
}

static void check_window(struct bench *bench, pattern *count, uint32_t window) {
    fill_and_start(bench, count, window);
    finish_and_compare(bench, count, window);
}

/// Calls `check` for every back-end that serves the ranks of the world.
static void for_each_backend(void (*check)(const struct exchange_backend *)) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int x = 0; exchange_backends[x]; x++) {
        const struct exchange_backend *backend = exchange_backends[x];
        if (backend->absent || (backend->ranks_max && backend->ranks_max < ranks)) continue;
        check(backend);
    }
}

static void check_patterns(const struct exchange_backend *backend) {
    for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++) {
        struct bench bench;
        bench_open(&bench, backend, topologies[t], 0);
        for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
            for (uint32_t window = 0; window < 30; window++) check_window(&bench, patterns[p], window);
        expect_no_faults(bench_close(&bench), backend, (int)t);
    }
}

static void every_backend_delivers_every_pattern(void **state) {
    (void)state;
    for_each_backend(check_patterns);
}

/// Waits up to half a millisecond in one of four cases, differently on each rank.
static void be_late(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    if (*random >> 62 == 0) nanosleep(&(struct timespec){0, (long)(*random >> 33) % 500000}, NULL);
}

/// Exchanges as an overlapped schedule does: a second exchange begins while the first is in flight.
static void check_two_in_flight(const struct exchange_backend *backend) {
    for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++) {
        struct bench a, b;
        bench_open(&a, backend, topologies[t], 0);
        bench_open(&b, backend, topologies[t], 0x40000000);
        uint64_t random = (uint64_t)a.exchange->rank * 0x9E3779B97F4A7C15u;
        for (uint32_t window = 0; window < 40; window++) {
            pattern *first = window % 2 ? bursts : uneven, *second = window % 3 ? uneven : bursts;
            be_late(&random);
            fill_and_start(&a, first, window);
            be_late(&random);
            fill_and_start(&b, second, window);
            for (int i = 0; i < 3; i++) {
                exchange_progress(a.exchange, &a.outbox);
                be_late(&random);
                exchange_progress(b.exchange, &b.outbox);
            }
            finish_and_compare(&a, first, window);
            be_late(&random);
            finish_and_compare(&b, second, window);
        }
        uint64_t faults = bench_close(&a);
        expect_no_faults(faults + bench_close(&b), backend, (int)t);
    }
}

static void two_exchanges_in_flight_on_skewed_ranks_do_not_mix(void **state) {
    (void)state;
    for_each_backend(check_two_in_flight);
}

/// Returns all that the back-end and MPI have allocated, in bytes; what MPI keeps for reuse counts as well.
static size_t allocated(void) {
    return mallinfo2().uordblks;
}

static uint64_t memory_faults(const struct exchange_backend *backend) {
    enum { windows = 3000, settled = 1000, bytes_per_window = 16 };
    struct bench bench;
    bench_open(&bench, backend, all_to_all, 0);
    uint32_t window = 0;
    for (; window < settled; window++) check_window(&bench, uneven, window % 100);
    const size_t bytes = exchange_bytes(bench.exchange), all = allocated(),
                 sent = outbox_bytes(&bench.outbox);
    for (; window < windows; window++) check_window(&bench, uneven, window % 100);
    bench.faults += exchange_bytes(bench.exchange) != bytes;
    bench.faults += outbox_bytes(&bench.outbox) != sent;
    bench.faults += allocated() > all + (windows - settled) * bytes_per_window;
    return bench_close(&bench);
}

static void check_memory(const struct exchange_backend *backend) {
    expect_no_faults(memory_faults(backend), backend, 0);
}

static void memory_stays_when_the_load_stays(void **state) {
    (void)state;
    for_each_backend(check_memory);
}

static void check_traffic(const struct exchange_backend *backend) {
    for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++) {
        struct bench bench;
        bench_open(&bench, backend, topologies[t], 0);
        const struct exchange *exchange = bench.exchange;
        for (uint32_t window = 0; window < 10; window++) check_window(&bench, uneven, window);
        bench.faults += exchange->traffic.bytes < bench.others * sizeof(uint32_t);
        bench.faults += bench.others && !exchange->traffic.messages;
        bench.faults += bench.others && !exchange->connections;
        bench.faults += exchange->connections < 0 || exchange->connections >= exchange->ranks;
        if (exchange->ranks == 1) bench.faults += exchange->traffic.messages || exchange->traffic.bytes;
        expect_no_faults(bench_close(&bench), backend, (int)t);
    }
}

static void traffic_counts_only_other_ranks(void **state) {
    (void)state;
    for_each_backend(check_traffic);
}

static void what_is_absent_says_why(void **state) {
    (void)state;
    for (int x = 0; exchange_backends[x]; x++) {
        assert_ptr_equal(exchange_find(exchange_backends[x]->name), exchange_backends[x]);
        if (exchange_backends[x]->absent) assert_true(strlen(exchange_backends[x]->absent) > 10);
    }
}

static void drop_a_word(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    struct inbox_run *run = &exchange->inbox.run[exchange->ranks - 1];
    if (run->count) run->count--;
}

static void repeat_a_word(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    for (int from = 0; from < exchange->ranks; from++) {
        uint32_t *words = (uint32_t *)exchange->inbox.run[from].words;
        if (exchange->inbox.run[from].count > 1) words[1] = words[0];
    }
}

static void leave_words_in_the_outbox(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    exchange->inbox.run[exchange->rank].words = outbox_words(outbox, exchange->rank);
}

static void leak(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    alloc(1, 1);
}

static uint64_t window_faults(const struct exchange_backend *backend) {
    struct bench bench;
    bench_open(&bench, backend, all_to_all, 0);
    for (uint32_t window = 0; window < 30; window++) check_window(&bench, uneven, window);
    return bench_close(&bench);
}

static uint64_t faults_with(void (*finish)(struct exchange *, const struct outbox *),
                            uint64_t (*faults)(const struct exchange_backend *)) {
    struct exchange_backend wrong = *exchange_find("alltoallv");
    wrong.finish = finish;
    return faults(&wrong);
}

static void a_wrong_backend_is_noticed(void **state) {
    (void)state;
    assert_int_equal(faults_with(exchange_find("alltoallv")->finish, window_faults), 0);
    assert_true(faults_with(drop_a_word, window_faults) > 10);
    assert_true(faults_with(repeat_a_word, window_faults) > 10);
    assert_true(faults_with(leave_words_in_the_outbox, window_faults) > 10);
    assert_true(faults_with(leak, memory_faults) > 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_backend_delivers_every_pattern),
        cmocka_unit_test(two_exchanges_in_flight_on_skewed_ranks_do_not_mix),
        cmocka_unit_test(memory_stays_when_the_load_stays),
        cmocka_unit_test(traffic_counts_only_other_ranks),
        cmocka_unit_test(what_is_absent_says_why),
        cmocka_unit_test(a_wrong_backend_is_noticed),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
