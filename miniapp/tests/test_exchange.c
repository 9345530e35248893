/// \file
/// Every exchange back-end brings every word from the rank that sent it to the rank it was meant for, once,
/// whoever is whose partner and however late some ranks are; and the start-up self-test.

#include "exchange_trial.h"
#include "transport/exchange_check.h"

#include <malloc.h>

static void expect_no_faults(uint64_t faults, const struct exchange_backend *backend, int topology_number) {
    if (faults)
        fail_msg("%s, topology %d: %llu faults", backend->name, topology_number, (unsigned long long)faults);
}

/// Calls `check` for every back-end that serves the ranks of the world, with every topology.
static void for_each(uint64_t (*check)(const struct exchange_backend *, topology *)) {
    for (int x = 0; exchange_backends[x]; x++)
        for (int t = 0; serves(exchange_backends[x], world_ranks()) && topologies[t]; t++)
            expect_no_faults(check(exchange_backends[x], topologies[t]), exchange_backends[x], t);
}

static uint64_t faults_of_patterns(const struct exchange_backend *backend, topology *linked) {
    struct trial trial;
    trial_open(&trial, plain_spec(backend), linked, 0);
    for (int p = 0; patterns[p]; p++)
        for (uint32_t window = 0; window < 30; window++) trial_window(&trial, patterns[p], window);
    return trial_close(&trial);
}

TEST(every_backend_delivers_every_pattern) {
    for_each(faults_of_patterns);
}

/// Exchanges as an overlapped schedule does: a second exchange begins while the first is in flight.
static uint64_t faults_of_two(const struct exchange_backend *backend, topology *linked) {
    struct trial a, b;
    trial_open(&a, plain_spec(backend), linked, 0);
    trial_open(&b, plain_spec(backend), linked, 0x40000000);
    uint64_t random = (uint64_t)a.exchange->rank * 0x9E3779B97F4A7C15u;
    for (uint32_t window = 0; window < 40; window++) {
        pattern *first = window % 2 ? bursts : uneven, *second = window % 3 ? uneven : bursts;
        be_late(&random);
        trial_start(&a, first, window);
        be_late(&random);
        trial_start(&b, second, window);
        for (int i = 0; i < 3; i++) {
            exchange_progress(a.exchange, &a.send_buffer);
            be_late(&random);
            exchange_progress(b.exchange, &b.send_buffer);
        }
        trial_finish(&a, first, window);
        be_late(&random);
        trial_finish(&b, second, window);
    }
    const uint64_t faults = trial_close(&a);
    return faults + trial_close(&b);
}

TEST(two_exchanges_in_flight_on_skewed_ranks_do_not_mix) {
    for_each(faults_of_two);
}

/// Compares all that the back-end and MPI have allocated; what MPI keeps for reuse counts as well.
static uint64_t memory_faults(const struct exchange_backend *backend, topology *linked) {
    enum { windows = 3000, settled = 1000, bytes_per_window = 16 };
    struct trial trial;
    if (linked != every_pair) return 0;
    trial_open(&trial, plain_spec(backend), linked, 0);
    uint32_t window = 0;
    for (; window < settled; window++) trial_window(&trial, uneven, window % 100);
    const size_t bytes = exchange_bytes(trial.exchange), all = mallinfo2().uordblks,
                 sent = send_buffer_bytes(&trial.send_buffer);
    for (; window < windows; window++) trial_window(&trial, uneven, window % 100);
    trial.faults += exchange_bytes(trial.exchange) != bytes;
    trial.faults += send_buffer_bytes(&trial.send_buffer) != sent;
    trial.faults += mallinfo2().uordblks > all + (windows - settled) * bytes_per_window;
    return trial_close(&trial);
}

TEST(memory_stays_when_the_load_stays) {
    for_each(memory_faults);
}

/// Ranks may pass on what others send, so the sums are compared.
static uint64_t traffic_faults(const struct exchange_backend *backend, topology *linked) {
    struct trial trial;
    trial_open(&trial, plain_spec(backend), linked, 0);
    const struct exchange *exchange = trial.exchange;
    for (uint32_t window = 0; window < 10; window++) trial_window(&trial, uneven, window);
    uint64_t sums[] = {exchange->traffic.bytes, trial.others * sizeof(uint32_t)};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    trial.faults += sums[0] < sums[1];
    trial.faults += trial.others && !exchange->traffic.messages;
    trial.faults += trial.others && !exchange->connections;
    trial.faults += exchange->connections < 0 || exchange->connections >= exchange->ranks;
    if (exchange->ranks == 1) trial.faults += exchange->traffic.messages || exchange->traffic.bytes;
    return trial_close(&trial);
}

TEST(traffic_counts_only_other_ranks) {
    for_each(traffic_faults);
}

TEST(what_is_absent_says_why) {
    for (int x = 0; exchange_backends[x]; x++) {
        assert_ptr_equal(exchange_find(exchange_backends[x]->name), exchange_backends[x]);
        if (exchange_backends[x]->absent) assert_true(strlen(exchange_backends[x]->absent) > 10);
    }
}

static void drop_a_word(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    if (exchange->receive_buffer.runs)
        exchange->receive_buffer.run[exchange->receive_buffer.runs - 1].count--;
}

static void repeat_a_word(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    for (int i = 0; i < exchange->receive_buffer.runs; i++) {
        uint32_t *words = (uint32_t *)exchange->receive_buffer.run[i].words;
        if (exchange->receive_buffer.run[i].count > 1) words[1] = words[0];
    }
}

static void leave_words_in_the_send_buffer(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    for (int i = 0; i < exchange->receive_buffer.runs; i++)
        if (exchange->receive_buffer.run[i].from == exchange->rank)
            exchange->receive_buffer.run[i].words = send_buffer_words(send_buffer, exchange->rank);
}

static void leak(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    alloc(1, 1);
}

static uint64_t faults_with(void (*end)(struct exchange *, const struct send_buffer *),
                            uint64_t (*faults)(const struct exchange_backend *, topology *)) {
    struct exchange_backend wrong = *exchange_find("alltoallv");
    wrong.finish = end;
    return faults(&wrong, every_pair);
}

TEST(a_wrong_backend_is_noticed) {
    assert_int_equal(faults_with(exchange_find("alltoallv")->finish, faults_of_patterns), 0);
    assert_true(faults_with(drop_a_word, faults_of_patterns) > 10);
    assert_true(faults_with(repeat_a_word, faults_of_patterns) > 10);
    assert_true(faults_with(leave_words_in_the_send_buffer, faults_of_patterns) > 10);
    assert_true(faults_with(leak, memory_faults) > 0);
}

static void check_failed_everywhere(const struct exchange_backend *backend) {
    struct error error = {""};
    char library[MPI_MAX_LIBRARY_VERSION_STRING], start[80];
    int length;
    assert_false(exchange_check(&(struct exchange_spec){.backend = backend}, MPI_COMM_WORLD, &error));
    snprintf(start, sizeof start, "exchange: \"%s\" lost data in the self-test with ", backend->name);
    assert_memory_equal(error.text, start, strlen(start));
    MPI_Get_library_version(library, &length);
    assert_non_null(strstr(error.text, (library[5] = '\0', library))); // "Open " or "MPICH"
    assert_non_null(strstr(error.text, "; expected another exchange, or another MPI library"));
    assert_null(strchr(error.text, '?'));
}

TEST(the_self_test_passes) {
    for (int x = 0; exchange_backends[x]; x++) {
        struct error error = {""};
        struct exchange_spec spec = exchange_plain(exchange_backends[x]);
        if (!serves(spec.backend, world_ranks())) continue;
        if (!exchange_check(&spec, MPI_COMM_WORLD, &error)) fail_msg("%s", error.text);
        assert_string_equal(error.text, "");
    }
}

/// The exchanges below go wrong for words from the rank before on the last rank, and are right elsewhere.

static struct receive_buffer_run *victim(struct exchange *exchange) {
    for (int i = 0; exchange->rank == exchange->ranks - 1 && i < exchange->receive_buffer.runs; i++)
        if (exchange->receive_buffer.run[i].from == (exchange->ranks + exchange->ranks - 2) % exchange->ranks)
            return &exchange->receive_buffer.run[i];
    return NULL;
}

static void finish_dropping(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    if (victim(exchange)) victim(exchange)->count--;
}

static void finish_dropping_of_bursts(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    if (victim(exchange) && victim(exchange)->count > 100) victim(exchange)->count--;
}

static void finish_altering(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    if (victim(exchange)) ((uint32_t *)victim(exchange)->words)[victim(exchange)->count - 1] ^= 1;
}

static void finish_inventing(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange_find("alltoallv")->finish(exchange, send_buffer);
    if (victim(exchange)) victim(exchange)->count = UINT32_MAX; // to be noticed before it is read
}

TEST(the_self_test_fails_on_all_ranks) {
    struct exchange_backend fake = *exchange_find("alltoallv");
    void (*const finishes[])(struct exchange *, const struct send_buffer *) = {
        finish_dropping, finish_dropping_of_bursts, finish_altering, finish_inventing};
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++) {
        fake.name = "fake";
        fake.finish = finishes[i];
        check_failed_everywhere(&fake);
    }
}

TESTS_NEED_MPI
