/// \file
/// Schedules: lanes, the exactness check, the choice of exchanges.

#include "support.h"

#include <string.h>

static struct error refused;

/// Plans the description on `ranks` ranks; \return whether it is accepted, else `refused` says why.
static bool plan(struct schedule *schedule, const char *text, const char *const *overrides, int ranks) {
    struct description d;
    struct placement placement = {0};
    const struct placement_rule *rule;
    refused = (struct error){""};
    open_description(&d, text, overrides);
    bool planned = schedule_placement(&d, &rule, &refused) &&
                   placement_open(&placement, rule, &d.network, ranks, 1, &refused) &&
                   schedule_plan(schedule, &d, &placement, &refused);
    placement_close(&placement);
    description_close(&d);
    return planned;
}

static void assert_refused(const char *const *overrides, int ranks, const char *message) {
    struct schedule schedule;
    assert_false(plan(&schedule, eight_areas, overrides, ranks));
    if (!strstr(refused.text, message)) fail_msg("the message is '%s', expected '%s'", refused.text, message);
}

static void structure_aware_has_a_near_and_a_far_lane(void **state) {
    (void)state;
    struct schedule schedule;
    assert_true(plan(&schedule, eight_areas, (const char *const[]){"schedule=structure_aware", NULL}, 4));
    assert_int_equal(schedule.n_lanes, 2);
    assert_true(schedule.lanes[0].within_rank);
    assert_string_equal(schedule.lanes[0].backend->name, "self");
    assert_int_equal(schedule.lanes[0].period, 1);
    assert_int_equal(schedule.lanes[0].shortest_delay, 2);
    assert_false(schedule.lanes[1].within_rank);
    assert_string_equal(schedule.lanes[1].backend->name, "alltoallv");
    assert_int_equal(schedule.lanes[1].period, 3);
    assert_int_equal(schedule.lanes[1].shortest_delay, 6);
    // Near are the projections within area a, and 9 of the 46 neurons of the mixed pool onto it.
    struct description d;
    open_description(&d, eight_areas, NULL);
    uint64_t sum = schedule.lanes[0].n_synapses + schedule.lanes[1].n_synapses;
    assert_in_range(sum, network_synapses(&d.network) - 1, network_synapses(&d.network) + 1);
    assert_int_equal(d.network.projections[2].pool, 20 + 9 + 16 + 1);
    assert_int_equal(d.network.projections[2].near, 9);
    assert_int_equal(schedule.lanes[0].n_synapses, 37 * 12 + 9 * 5 + (37 * 20 * 9 + 23) / 46);
    description_close(&d);
}

static void round_robin_near_lanes_span_all_ranks(void **state) {
    (void)state;
    struct schedule schedule;
    const char *const overrides[] = {"schedule=structure_aware", "placement=round_robin", NULL};
    assert_true(plan(&schedule, eight_areas, overrides, 4));
    assert_false(schedule.lanes[0].within_rank);
}

static void every_schedule_runs_on_one_rank_without_mpi(void **state) {
    (void)state;
    for (int s = 0; schedule_rules[s]; s++) {
        char text[80];
        struct schedule schedule;
        snprintf(text, sizeof text, "schedule=%s", schedule_rules[s]->name);
        assert_true(plan(&schedule, eight_areas, (const char *const[]){text, NULL}, 1));
        for (int l = 0; l < schedule.n_lanes; l++)
            assert_string_equal(schedule.lanes[l].backend->name, "self");
    }
}

static void a_longer_window_than_the_shortest_delay_is_refused(void **state) {
    (void)state;
    assert_refused((const char *const[]){"schedule=structure_aware", "delay_ratio=4", NULL}, 2,
                   "delay_ratio: 4; allowed: at most 3, since lane far has delays from 0.6 ms and its window "
                   "would last 0.8 ms");
    assert_refused((const char *const[]){"time.cycle_ms=0.4", "time.warmup_ms=4", NULL}, 2,
                   "time.cycle_ms: 0.4; allowed: at most 0.2, the shortest delay in lane world");
}

static void a_ratio_that_does_not_divide_the_run_is_refused(void **state) {
    (void)state;
    assert_refused((const char *const[]){"schedule=structure_aware", "time.simulate_ms=20", NULL}, 2,
                   "delay_ratio: 3; allowed: a divisor of the 100 measured cycles");
}

static void auto_takes_the_largest_exact_ratio_that_divides(void **state) {
    (void)state;
    struct schedule schedule;
    const char *const three[] = {"schedule=structure_aware", "delay_ratio=auto", NULL};
    assert_true(plan(&schedule, eight_areas, three, 2));
    assert_int_equal(schedule.lanes[1].period, 3);
    const char *const two[] = {"schedule=structure_aware", "delay_ratio=auto", "time.simulate_ms=20", NULL};
    assert_true(plan(&schedule, eight_areas, two, 2));
    assert_int_equal(schedule.lanes[1].period, 2);

    struct description d;
    struct placement placement;
    open_description(&d, eight_areas, (const char *const[]){"delay_ratio=auto", NULL});
    assert_true(placement_open(&placement, placement_find("area"), &d.network, 2, 1, &refused));
    assert_true(schedule_plan(&schedule, &d, &placement, &refused));
    assert_int_equal(d.delay_ratio, 1); // conventional uses none
    placement_close(&placement);
    description_close(&d);
}

static void unknown_and_unfit_names_are_refused(void **state) {
    (void)state;
    assert_refused((const char *const[]){"schedule=eager", NULL}, 2,
                   "schedule: \"eager\"; allowed: conventional, placement_only, structure_aware");
    assert_refused((const char *const[]){"placement=here", NULL}, 2,
                   "placement: \"here\"; allowed: round_robin, area");
    assert_refused((const char *const[]){"exchange=pigeon", NULL}, 1,
                   "exchange: \"pigeon\" for lane world on 1 rank(s); allowed: self, alltoall, alltoallv");
    assert_refused((const char *const[]){"exchange=self", NULL}, 2,
                   "exchange: \"self\" for lane world on 2 rank(s); allowed: alltoall, alltoallv");
    assert_refused((const char *const[]){"exchange.fra=alltoall", NULL}, 2,
                   "exchange.fra: unknown field; allowed: world");
    assert_refused(
        (const char *const[]){"schedule=structure_aware", "exchange={\"near\": \"alltoall\"}", NULL}, 2,
        "exchange: \"none\" for lane far on 2 rank(s); allowed: alltoall, alltoallv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structure_aware_has_a_near_and_a_far_lane),
        cmocka_unit_test(round_robin_near_lanes_span_all_ranks),
        cmocka_unit_test(every_schedule_runs_on_one_rank_without_mpi),
        cmocka_unit_test(a_longer_window_than_the_shortest_delay_is_refused),
        cmocka_unit_test(a_ratio_that_does_not_divide_the_run_is_refused),
        cmocka_unit_test(auto_takes_the_largest_exact_ratio_that_divides),
        cmocka_unit_test(unknown_and_unfit_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
