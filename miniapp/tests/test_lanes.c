/// \file
/// Schedules that are lists of lanes: groups of ranks, given areas, what is refused.

#include "plan.h"

#include <string.h>

static void a_list_of_lanes_is_a_schedule(void **state) {
    (void)state;
    struct planned *p = accept(OVERRIDES("schedule=[{\"name\": \"own\", \"group\": \"area\"},"
                                         " {\"name\": \"pair\", \"group\": 2, \"period\": 2},"
                                         " {\"name\": \"four\", \"group\": 4, \"period\": \"auto\"},"
                                         " {\"name\": \"all\", \"period\": 1, \"lag\": 2}]",
                                         "exchange={\"pair\": \"alltoall\", \"four\": \"alltoallv\","
                                         " \"own\": \"self\", \"all\": {\"name\": \"alltoall\"}}",
                                         "wire={\"pair\": \"aer12\"}"),
                               8);
    assert_int_equal(p->schedule.n_lanes, 4);
    assert_string_equal(p->schedule.lanes[1].exchange.backend->name, "alltoall");
    assert_string_equal(p->schedule.lanes[1].wire->name, "aer12");
    assert_string_equal(p->schedule.lanes[2].wire->name, "compact");
    assert_int_equal(p->schedule.lanes[3].lag, 2);
    assert_string_equal(p->placement.rule->name, "area");
    finish(p);
}

/// Areas a, b and e of eight ranks, one area each: ranks 0, 1 and 4.
static void lanes_between_areas_connect_the_ranks_that_hold_them(void **state) {
    (void)state;
    struct planned *p = accept(
        OVERRIDES("schedule=[{\"name\": \"in\", \"from\": [\"e\", \"b\"], \"to\": \"a\", \"period\": 3},"
                  " {\"name\": \"from-e\", \"from\": \"e\"}, {\"name\": \"rest\"}]"),
        8);
    const struct grouping *in = &p->schedule.lanes[0].groups;
    const int first[] = {0, 0, 2, 3, 0, 5, 6, 7}, place[] = {0, 1, 0, 0, 2, 0, 0, 0};
    for (int rank = 0; rank < 8; rank++) {
        assert_int_equal(in->first[rank], first[rank]);
        assert_int_equal(in->place[rank], place[rank]);
        assert_int_equal(in->size[rank], first[rank] == 0 ? 3 : 1);
    }
    assert_int_equal(in->largest, 3);
    assert_int_equal(in->groups, 6);
    assert_int_equal(p->schedule.lanes[0].shortest_delay, 6);
    assert_int_equal(p->schedule.lanes[1].groups.largest, 8); // to any area
    const uint32_t a = 0, b = 1, e = 4, f = 5;
    assert_int_equal(schedule_lane(&p->schedule, e, a), 0);
    assert_int_equal(schedule_lane(&p->schedule, e, f), 1);
    assert_int_equal(schedule_lane(&p->schedule, b, f), 2);
    assert_int_equal(schedule_lane(&p->schedule, a, e), 2);
    finish(p);
}

/// Where lanes carry all synapses that there are, none need connect all ranks.
static void a_world_lane_is_needed_only_for_synapses_that_no_other_has(void **state) {
    (void)state;
    const char *const lanes = "schedule=[{\"name\": \"to\", \"to\": [\"a\", \"f\", \"b\"]},"
                              " {\"name\": \"d\", \"from\": [\"f\", \"g\", \"h\"], \"to\": \"d\"}]";
    assert_refused(OVERRIDES(lanes), 4, "schedule: no lane for network.projections.6, from area \"e\"");
    struct planned *p = accept(OVERRIDES(lanes, "network.projections.6.indegree=0"), 4);
    assert_int_equal(schedule_lane(&p->schedule, 4, 7), -1);
    uint64_t sum = p->schedule.lanes[0].n_synapses + p->schedule.lanes[1].n_synapses;
    assert_int_equal(sum, network_synapses(&p->d.network));
    finish(p);
}

static void a_schedule_has_up_to_32_lanes(void **state) {
    (void)state;
    char text[3000] = "schedule=[";
    for (int l = 0, n = 10; l < schedule_lanes_max - 1; l++)
        n += snprintf(text + n, sizeof text - (size_t)n, "{\"name\": \"lane %d\", \"from\": \"%c\"}, ", l,
                      'a' + l % 8);
    const size_t end = strlen(text);
    snprintf(text + end, sizeof text - end, "{\"name\": \"all\"}]");
    struct planned *p = accept(OVERRIDES(text), 4);
    assert_int_equal(p->schedule.n_lanes, 32);
    finish(p);
    snprintf(text + end, sizeof text - end, "{\"name\": \"one\"}, {\"name\": \"all\"}]");
    assert_refused(OVERRIDES(text), 4, "schedule: a list of 33 lanes; allowed: 1 to 32");
}

static void lists_of_lanes_that_cannot_be_are_refused(void **state) {
    (void)state;
    const struct {
        const char *lanes;
        const char *message;
    } cases[] = {
        {"[]", "schedule: a list of 0 lanes; allowed: 1 to 32"},
        {"[1]", "schedule.0: not an object"},
        {"[{\"group\": \"world\"}]", "schedule.0.name: missing"},
        {"[{\"name\": \"a\", \"group\": \"area\"}]", "schedule: no lane for network.projections.2, from area "
                                                     "\"b\" to area \"a\"; allowed: lanes that carry "
                                                     "all synapses"},
        {"[{\"name\": \"a\", \"from\": \"b\"}, {\"name\": \"c\", \"to\": [\"f\", \"d\"]}]",
         "schedule: no lane for network.projections.0, from area \"a\" to area \"a\""},
        {"[{\"name\": \"a\", \"from\": \"i\"}]", "schedule.0.from: \"i\"; allowed: an area of the network, "
                                                 "or a list of them, none twice: a, b, c, d, e, "
                                                 "f, g, h"},
        {"[{\"name\": \"a\", \"to\": [\"a\", \"b\", \"a\"]}]", "schedule.0.to: \"a\"; allowed: an area"},
        {"[{\"name\": \"a\", \"to\": [\"a\", [\"b\"]]}]", "schedule.0.to: [\"b\"]; allowed: an area"},
        {"[{\"name\": \"a\", \"from\": []}]", "schedule.0.from: []; allowed: an area"},
        {"[{\"name\": \"a\", \"from\": null}]", "schedule.0.from: null; allowed: an area"},
        {"[{\"name\": \"a\", \"from\": {\"a\": 1}}]", "schedule.0.from: {\"a\":1}; allowed: an area"},
        {"[{\"name\": \"a\", \"from\": \"a\", \"group\": 2}, {\"name\": \"b\"}]",
         "schedule.0.group: 2; allowed: \"world\" in a lane that has from or to"},
        {"[{\"name\": \"a\", \"to\": \"a\", \"group\": \"area\"}, {\"name\": \"b\"}]",
         "schedule.0.group: \"area\"; allowed: \"world\" in a lane that has from or to"},
        {"[{\"name\": \"a\"}, {\"name\": \"b\", \"from\": \"a\"}]",
         "schedule.0.group: nothing; allowed: \"area\" or an integer in all"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"b\", \"group\": \"area\"}, {\"name\": \"c\"}]",
         "schedule.1.group: \"area\"; allowed: \"area\" only in the first lane"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"b\", \"to\": \"a\"}, {\"name\": \"c\", \"group\": "
         "2}]",
         "schedule.2.group: 2; allowed: a larger multiple"},
        {"[{\"name\": \"a\", \"from\": \"a\", \"period\": 2}, {\"name\": \"b\"}]",
         "schedule.0.period: 2; allowed: at most 1, since lane a"},
        {"[{\"name\": \"a\"}, {\"name\": \"b\"}]",
         "schedule.0.group: nothing; allowed: \"area\" or an integer in all"},
        {"[{\"name\": \"a\", \"group\": \"area\"}, {\"name\": \"a\"}]",
         "schedule.1.name: \"a\"; allowed: a name that"},
        {"[{\"name\": \"a\", \"group\": 3}, {\"name\": \"b\"}]",
         "schedule.0.group: 3; allowed: a divisor of the 4 ranks"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"c\", \"group\": 3}, {\"name\": \"b\"}]",
         "schedule.1.group: 3; allowed: a larger multiple"},
        {"[{\"name\": \"a\", \"group\": 2.5}, {\"name\": \"b\"}]",
         "schedule.0.group: 2.5; allowed: an integer from 1"},
        {"[{\"name\": \"a\", \"period\": \"often\"}]", "schedule.0.period: \"often\"; allowed: an integer"},
        {"[{\"name\": \"a\", \"lag\": -1}]", "schedule.0.lag: -1; allowed: an integer from 0"},
        {"[{\"name\": \"a\", \"period\": 2}]", "schedule.0.period: 2; allowed: at most 1, since lane a"},
        {"[{\"name\": \"a\", \"lag\": 1}]", "schedule.0.lag: 1; allowed: at most 0, since lane a"},
        {"[{\"name\": \"a\", \"speed\": 1}]", "schedule.0.speed: unknown field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "schedule=%s", cases[i].lanes);
        assert_refused(OVERRIDES(text), 4, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_lanes_is_a_schedule),
        cmocka_unit_test(lanes_between_areas_connect_the_ranks_that_hold_them),
        cmocka_unit_test(a_world_lane_is_needed_only_for_synapses_that_no_other_has),
        cmocka_unit_test(a_schedule_has_up_to_32_lanes),
        cmocka_unit_test(lists_of_lanes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
