/// \file
/// What test_exchange.c does not reach: partners that are few, ranks that run ahead of others, two-level
/// routing over groups of any size and any pair of exchanges, and the start-up self-test.

#include "support.h"

#include "base/alloc.h"
#include "transport/exchange_check.h"
#include <stdlib.h>
#include <unistd.h>

enum { ranks_most = 64 };

static int world_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int world_ranks(void) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

static bool serves(const struct exchange_backend *backend, int ranks) {
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks);
}

static bool ordinary(const struct exchange_backend *backend, int ranks) {
    return serves(backend, ranks) && !backend->broadcast && !backend->composed;
}

/// Names a back-end, with parts and a group if it is composed.
static struct exchange_spec spec_of(const struct exchange_backend *backend) {
    const struct exchange_backend *part = backend->composed ? exchange_find("alltoallv") : NULL;
    return (struct exchange_spec){backend, part, part, backend->composed ? 2 : 0};
}

/// Which ranks send to which.
typedef bool (*topology)(int from, int to);

static bool everyone(int from, int to) {
    return from != to;
}

/// Connects about a third of the pairs, in one direction each; some ranks have no targets, others no sources.
static bool few(int from, int to) {
    return from != to && (from * from + 3 * to) % 7 < 2 && from % 4 != 3;
}

static bool nobody(int from, int to) {
    return (void)from, (void)to, false;
}

static struct exchange *open_exchange(struct exchange_spec spec, topology sends) {
    const int own = world_rank(), ranks = world_ranks();
    int targets[ranks_most], sources[ranks_most];
    struct partners partners = {0, 0, targets, sources};
    assert_true(ranks <= ranks_most);
    for (int rank = 0; rank < ranks; rank++) {
        if (sends(own, rank)) targets[partners.n_targets++] = rank;
        if (sends(rank, own)) sources[partners.n_sources++] = rank;
    }
    MPI_Comm comm; // as lanes have it: without the attributes of MPI_COMM_WORLD
    MPI_Comm_split(MPI_COMM_WORLD, 0, own, &comm);
    struct exchange *exchange = exchange_open(&spec, comm, &partners);
    MPI_Comm_free(&comm);
    return exchange;
}

/// Returns few words, and now and then a burst from one rank beyond all that has been before. A broadcast
/// asks with `to` 0.
static uint32_t count_of(int from, int to, uint32_t window) {
    if (window % 8 == 7 && from == (int)(window / 8) % world_ranks()) return 16 * window + (uint32_t)to;
    return (uint32_t)(from * 3 + to * 5) * (window + 1) % 4;
}

static uint32_t word_of(int from, int to, uint32_t window, uint32_t number) {
    return (uint32_t)from << 26 ^ (uint32_t)to << 20 ^ window << 12 ^ number;
}

static void fill(const struct exchange *exchange, struct outbox *outbox, topology sends, uint32_t window) {
    const int own = exchange->rank;
    outbox_clear(outbox);
    for (int to = 0; to < outbox->ranks; to++)
        if (exchange->spec.backend->broadcast || to == own || sends(own, to))
            for (uint32_t i = 0; i < count_of(own, to, window); i++)
                outbox_add(outbox, to, word_of(own, to, window, i));
}

static void check_inbox(const struct exchange *exchange, topology sends, uint32_t window) {
    const bool broadcast = exchange->spec.backend->broadcast;
    const int own = exchange->rank, to = broadcast ? 0 : own;
    assert_int_equal(exchange->inbox.runs, exchange->ranks);
    for (int from = 0; from < exchange->ranks; from++) {
        struct inbox_run run = exchange->inbox.run[from];
        bool comes = broadcast || from == own || sends(from, own);
        assert_int_equal(run.count, comes ? count_of(from, to, window) : 0);
        for (uint32_t i = 0; i < run.count; i++) assert_int_equal(run.words[i], word_of(from, to, window, i));
    }
}

/// Lets one rank in three wait, a different one each time.
static void dawdle(const struct exchange *exchange, uint32_t moment) {
    if (((uint32_t)exchange->rank + moment) % 3 == 0) usleep(300);
}

/// Moves some windows through a fresh exchange. \return the connections that it had.
static int check_exchange(struct exchange_spec spec, topology sends, uint32_t windows, bool uneven_speed) {
    struct exchange *exchange = open_exchange(spec, sends);
    struct outbox outbox;
    outbox_open(&outbox, exchange_destinations(spec.backend, exchange->ranks));
    for (uint32_t window = 0; window < windows; window++) {
        fill(exchange, &outbox, sends, window);
        exchange_start(exchange, &outbox);
        exchange_progress(exchange, &outbox);
        if (uneven_speed) dawdle(exchange, window);
        exchange_finish(exchange, &outbox);
        outbox_clear(&outbox);
        if (uneven_speed) dawdle(exchange, window / 2);
        check_inbox(exchange, sends, window); // late, since others may have started the next window
    }
    int connections = exchange->connections;
    outbox_close(&outbox);
    exchange_close(exchange);
    return connections;
}

static void few_partners_are_enough(void **state) {
    static const topology topologies[] = {everyone, few, nobody};
    (void)state;
    for (int x = 0; exchange_backends[x]; x++)
        for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++)
            if (serves(exchange_backends[x], world_ranks()))
                check_exchange(spec_of(exchange_backends[x]), topologies[t], 30, false);
}

static void ranks_may_run_ahead(void **state) {
    (void)state;
    for (int x = 0; exchange_backends[x]; x++)
        if (serves(exchange_backends[x], world_ranks()))
            check_exchange(spec_of(exchange_backends[x]), everyone, 60, true);
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
    assert_non_null(strstr(error.text, "; allowed: another exchange, or another MPI library"));
    assert_null(strchr(error.text, '?'));
}

static void the_self_test_passes(void **state) {
    (void)state;
    for (int x = 0; exchange_backends[x]; x++) {
        struct error error = {""};
        struct exchange_spec spec = spec_of(exchange_backends[x]);
        if (!serves(spec.backend, world_ranks())) continue;
        if (!exchange_check(&spec, MPI_COMM_WORLD, &error)) fail_msg("%s", error.text);
        assert_string_equal(error.text, "");
    }
}

/// The exchanges below go wrong for words from rank 0 on the last rank, and are right elsewhere.

static struct inbox_run *victim(struct exchange *exchange) {
    return exchange->rank == exchange->ranks - 1 && exchange->inbox.run[0].count > 0 ? &exchange->inbox.run[0]
                                                                                     : NULL;
}

static void finish_dropping(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    if (victim(exchange)) victim(exchange)->count--;
}

static void finish_dropping_of_bursts(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    if (victim(exchange) && victim(exchange)->count > 100) victim(exchange)->count--;
}

static void finish_altering(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    if (victim(exchange)) ((uint32_t *)victim(exchange)->words)[victim(exchange)->count - 1] ^= 1;
}

static void finish_inventing(struct exchange *exchange, const struct outbox *outbox) {
    exchange_find("alltoallv")->finish(exchange, outbox);
    if (victim(exchange)) victim(exchange)->count = SIZE_MAX; // to be noticed before it is read
}

static void the_self_test_fails_on_all_ranks(void **state) {
    (void)state;
    struct exchange_backend fake = *exchange_find("alltoallv");
    void (*const finishes[])(struct exchange *, const struct outbox *) = {
        finish_dropping, finish_dropping_of_bursts, finish_altering, finish_inventing};
    for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++) {
        fake.name = "fake";
        fake.finish = finishes[i];
        check_failed_everywhere(&fake);
    }
}

static void two_level_serves_groups_of_any_size(void **state) {
    (void)state;
    const int ranks = world_ranks();
    struct exchange_spec spec = {.backend = exchange_find("two_level")};
    for (int i = 0; exchange_backends[i]; i++)
        for (int o = 0; exchange_backends[o]; o++) {
            spec.inner = exchange_backends[i];
            spec.outer = exchange_backends[o];
            for (spec.group = 0; spec.group <= ranks + 1; spec.group++) {
                int largest = spec.group && spec.group < ranks ? spec.group : ranks;
                if (!ordinary(spec.inner, largest) || !ordinary(spec.outer, ranks)) continue;
                check_exchange(spec, everyone, 10, false);
                check_exchange(spec, few, 10, false);
            }
        }
}

static void two_level_survives_uneven_speed(void **state) {
    (void)state;
    const struct exchange_backend *part = exchange_find("rma_put");
    const struct exchange_spec spec = {exchange_find("two_level"), part, part, 3};
    check_exchange(spec, everyone, 60, true);
    check_exchange(spec, few, 60, true);
}

static void two_level_has_few_connections(void **state) {
    (void)state;
    const int rank = world_rank(), ranks = world_ranks();
    const struct exchange_backend *part = exchange_find("alltoallv");
    for (int group = 1; group <= ranks; group++) {
        int last = ranks % group ? ranks % group : group, groups = (ranks + group - 1) / group;
        int members = rank / group == groups - 1 ? last : group, expected = members - 1;
        for (int column = rank % group; column < group; column += members) expected += groups - 1;
        struct exchange_spec spec = {exchange_find("two_level"), part, part, group};
        assert_int_equal(check_exchange(spec, everyone, 2, false), expected);
        spec.inner = spec.outer = exchange_find("rma_put");
        assert_true(check_exchange(spec, few, 2, false) <= expected);
        assert_int_equal(check_exchange(spec, nobody, 2, false), 0);
    }
    if (ranks == 9) {
        struct exchange_spec spec = {exchange_find("two_level"), part, part, 0};
        assert_int_equal(check_exchange(spec, everyone, 2, false), 4); // 2 sqrt(9) - 2
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_partners_are_enough),
        cmocka_unit_test(ranks_may_run_ahead),
        cmocka_unit_test(the_self_test_passes),
        cmocka_unit_test(the_self_test_fails_on_all_ranks),
        cmocka_unit_test(two_level_serves_groups_of_any_size),
        cmocka_unit_test(two_level_survives_uneven_speed),
        cmocka_unit_test(two_level_has_few_connections),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
