/// \file
/// The spikes and counts of a network do not depend on how it is run: every placement, schedule, exchange and
/// number of threads, on the ranks this test is started with, against delivery by brute force.

#include "support.h"

static const int thread_numbers[] = {1, 2};

static const char *assign(char *text, size_t bytes, const char *field, const char *value) {
    snprintf(text, bytes, "%s=%s", field, value);
    return text;
}

/// Weights without a common unit need wide cells of the ring buffer, the others do with narrow ones.
static const char *const weights[] = {"network.projections.0.weight=2",
                                      "network.projections.0.weight=1.2345678"};

static void check_combination(const char *schedule, const char *placement, const char *exchange, int threads,
                              const char *weight, const struct outcome *expected) {
    char text[3][80];
    const char *overrides[] = {assign(text[0], sizeof text[0], "schedule", schedule),
                               assign(text[1], sizeof text[1], "placement", placement),
                               assign(text[2], sizeof text[2], "exchange", exchange), weight, NULL};
    struct description description;
    open_description(&description, eight_areas, overrides);
    struct outcome outcome = run_network(&description, threads, MPI_COMM_WORLD, NULL);
    if (outcome.checksum != expected->checksum || outcome.spikes != expected->spikes ||
        outcome.synaptic_events != expected->synaptic_events || outcome.synapses != expected->synapses)
        fail_msg("%s, %s, %s, %d threads: checksum %llx, %llu spikes, %llu events; by brute force %llx, "
                 "%llu, %llu",
                 schedule, placement, exchange, threads, (unsigned long long)outcome.checksum,
                 (unsigned long long)outcome.spikes, (unsigned long long)outcome.synaptic_events,
                 (unsigned long long)expected->checksum, (unsigned long long)expected->spikes,
                 (unsigned long long)expected->synaptic_events);
    assert_true(outcome.first_accesses >= expected->first_accesses);
    description_close(&description);
}

static void check_all_combinations(const char *weight, int ranks, bool narrow) {
    struct description description;
    open_description(&description, eight_areas, (const char *const[]){weight, NULL});
    assert_int_equal(description.network.narrow_input, narrow);
    struct outcome expected = run_brute_force(&description, -1);
    description_close(&description);
    assert_true(expected.spikes > 100);

    for (int s = 0; schedule_rules[s]; s++)
        for (int p = 0; placement_rules[p]; p++)
            for (int x = 0; exchange_backends[x]; x++) {
                int limit = exchange_backends[x]->ranks_max;
                if (limit != 0 && limit < ranks) continue;
                for (size_t t = 0; t < sizeof thread_numbers / sizeof *thread_numbers; t++)
                    check_combination(schedule_rules[s]->name, placement_rules[p]->name,
                                      exchange_backends[x]->name, thread_numbers[t], weight, &expected);
            }
}

static void every_combination_gives_one_checksum(void **state) {
    (void)state;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_all_combinations(weights[0], ranks, true);
    check_all_combinations(weights[1], ranks, false);
}

static void the_network_depends_on_the_seed(void **state) {
    (void)state;
    struct description one, two;
    open_description(&one, eight_areas, NULL);
    open_description(&two, eight_areas, (const char *const[]){"seed=8", NULL});
    struct outcome first = run_brute_force(&one, -1), second = run_brute_force(&two, -1);
    assert_true(first.checksum != second.checksum);
    description_close(&one);
    description_close(&two);
}

static void one_missing_synapse_changes_the_checksum(void **state) {
    (void)state;
    struct description description;
    open_description(&description, eight_areas, NULL);
    struct outcome whole = run_brute_force(&description, -1);
    uint64_t noticed = 0, fired = 0;
    for (int64_t missing = 0; missing < (int64_t)whole.synapses; missing += 29) {
        struct outcome without = run_brute_force(&description, missing);
        // A synapse whose source never fires, or only so late that nothing arrives, cannot be noticed.
        fired += without.synaptic_events < whole.synaptic_events;
        noticed += without.checksum != whole.checksum;
    }
    assert_true(fired > 10);
    assert_true(noticed >= fired * 9 / 10);
    description_close(&description);
}

static void lengthen_far_windows(struct schedule *schedule) {
    for (int l = 0; l < schedule->n_lanes; l++)
        if (schedule->lanes[l].synapses == lane_far) schedule->lanes[l].period += 1;
}

static void a_window_longer_than_the_shortest_delay_shows(void **state) {
    (void)state;
    struct description description;
    const char *const overrides[] = {"schedule=structure_aware", "placement=round_robin", NULL};
    open_description(&description, eight_areas, overrides);
    struct outcome right = run_network(&description, 1, MPI_COMM_WORLD, NULL);
    struct outcome wrong = run_network(&description, 1, MPI_COMM_WORLD, lengthen_far_windows);
    assert_true(wrong.checksum != right.checksum);
    description_close(&description);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_gives_one_checksum),
        cmocka_unit_test(the_network_depends_on_the_seed),
        cmocka_unit_test(one_missing_synapse_changes_the_checksum),
        cmocka_unit_test(a_window_longer_than_the_shortest_delay_shows),
    };
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
