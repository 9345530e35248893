/// \file
/// What test_exchange.c does not reach: partners that are few, ranks that run ahead of others, and the
/// start-up self-test.

#include "exchange_trial.h"

#include "transport/exchange_check.h"

static void few_partners_are_enough(void **state) {
    static const topology topologies[] = {everyone, few, nobody};
    (void)state;
    for (int x = 0; exchange_backends[x]; x++)
        for (size_t t = 0; t < sizeof topologies / sizeof *topologies; t++)
            if (serves(exchange_backends[x], world_ranks()))
                trial(exchange_plain(exchange_backends[x]), topologies[t], 30, false);
}

static void ranks_may_run_ahead(void **state) {
    (void)state;
    for (int x = 0; exchange_backends[x]; x++)
        if (serves(exchange_backends[x], world_ranks()))
            trial(exchange_plain(exchange_backends[x]), everyone, 60, true);
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
        struct exchange_spec spec = exchange_plain(exchange_backends[x]);
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

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_partners_are_enough),
        cmocka_unit_test(ranks_may_run_ahead),
        cmocka_unit_test(the_self_test_passes),
        cmocka_unit_test(the_self_test_fails_on_all_ranks),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
