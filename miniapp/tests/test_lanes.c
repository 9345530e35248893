/// \file
/// Schedules that are lists of lanes: groups of ranks, given areas, what is refused.

#include "support.h"

TEST(a_list_of_lanes_is_a_schedule) {
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

/// A choice for all lanes leaves the size of groups to each: about the root of the ranks that share the lane.
TEST_OF_VARIANTS(a_choice_for_all_lanes_has_the_defaults_of_each_lane) {
    const char *const lanes = "schedule=[{\"name\": \"own\", \"group\": \"area\"},"
                              " {\"name\": \"four\", \"group\": 4}, {\"name\": \"all\"}]";
    const char *const choices[] = {
        "exchange=two_level", "exchange={\"name\": \"two_level\"}",
        "exchange={\"own\": \"self\", \"four\": \"two_level\", \"all\": {\"name\": \"two_level\"}}"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct planned *p = accept(OVERRIDES(lanes, choices[i]), 8);
        assert_string_equal(p->schedule.lanes[0].exchange.backend->name, "self");
        assert_int_equal(p->schedule.lanes[1].exchange.levels.size[0], 2);
        assert_int_equal(p->schedule.lanes[2].exchange.levels.size[0], 3);
        assert_string_equal(p->schedule.lanes[2].exchange.levels.part[1]->name, "alltoallv");
        finish(p);
    }
}

/// Areas a, b and e of eight ranks, one area each: ranks 0, 1 and 4.
TEST(lanes_between_areas_connect_the_ranks_that_hold_them) {
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
TEST(a_world_lane_is_needed_only_for_synapses_that_no_other_has) {
    const char *const lanes = "schedule=[{\"name\": \"to\", \"to\": [\"a\", \"f\", \"b\"]},"
                              " {\"name\": \"d\", \"from\": [\"f\", \"g\", \"h\"], \"to\": \"d\"}]";
    assert_no_plan(OVERRIDES(lanes), 4, "schedule: no lane for network.projections.6, from area \"e\"");
    struct planned *p = accept(OVERRIDES(lanes, "network.projections.6.indegree=0"), 4);
    assert_int_equal(schedule_lane(&p->schedule, 4, 7), -1);
    uint64_t sum = p->schedule.lanes[0].n_synapses + p->schedule.lanes[1].n_synapses;
    assert_int_equal(sum, network_synapses(&p->d.network));
    finish(p);
}

TEST(a_schedule_has_up_to_32_lanes) {
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
    assert_no_plan(OVERRIDES(text), 4, "schedule: a list of 33 lanes; expected 1 to 32");
}

TEST(lists_of_lanes_that_cannot_be_are_refused) {
    const struct {
        const char *lanes;
        const char *message;
    } cases[] = {
        {"[]", "schedule: a list of 0 lanes; expected 1 to 32"},
        {"[1]", "schedule.0: 1; expected an object"},
        {"[{\"group\": \"world\"}]", "schedule.0.name: missing"},
        {"[{\"name\": \"a\", \"group\": \"area\"}]", "schedule: no lane for network.projections.2, from area "
                                                     "\"b\" to area \"a\"; expected lanes that carry "
                                                     "all synapses"},
        {"[{\"name\": \"a\", \"from\": \"b\"}, {\"name\": \"c\", \"to\": [\"f\", \"d\"]}]",
         "schedule: no lane for network.projections.0, from area \"a\" to area \"a\""},
        {"[{\"name\": \"a\", \"from\": \"i\"}]", "schedule.0.from: \"i\"; expected an area of the network, "
                                                 "or a list of them, none twice: a, b, c, d, e, "
                                                 "f, g, h"},
        {"[{\"name\": \"a\", \"to\": [\"a\", \"b\", \"a\"]}]", "schedule.0.to: \"a\"; expected an area"},
        {"[{\"name\": \"a\", \"to\": [\"a\", [\"b\"]]}]", "schedule.0.to.1: [\"b\"]; expected a string"},
        {"[{\"name\": \"a\", \"from\": []}]", "schedule.0.from: []; expected an area"},
        {"[{\"name\": \"a\", \"from\": null}]", "schedule.0.from: null; expected a string"},
        {"[{\"name\": \"a\", \"from\": {\"a\": 1}}]", "schedule.0.from: {\"a\":1}; expected a string"},
        {"[{\"name\": \"a\", \"from\": \"a\", \"group\": 2}, {\"name\": \"b\"}]",
         "schedule.0.group: 2; expected \"world\" in a lane that has from or to"},
        {"[{\"name\": \"a\", \"to\": \"a\", \"group\": \"area\"}, {\"name\": \"b\"}]",
         "schedule.0.group: \"area\"; expected \"world\" in a lane that has from or to"},
        {"[{\"name\": \"a\"}, {\"name\": \"b\", \"from\": \"a\"}]",
         "schedule.0.group: \"world\"; expected \"area\" or an integer in all"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"b\", \"group\": \"area\"}, {\"name\": \"c\"}]",
         "schedule.1.group: \"area\"; expected \"area\" only in the first lane"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"b\", \"to\": \"a\"}, {\"name\": \"c\", \"group\": "
         "2}]",
         "schedule.2.group: 2; expected a larger multiple"},
        {"[{\"name\": \"a\", \"from\": \"a\", \"period\": 2}, {\"name\": \"b\"}]",
         "schedule.0.period: 2; expected at most 1, since lane a"},
        {"[{\"name\": \"a\"}, {\"name\": \"b\"}]",
         "schedule.0.group: \"world\"; expected \"area\" or an integer in all"},
        {"[{\"name\": \"a\", \"group\": \"area\"}, {\"name\": \"a\"}]",
         "schedule.1.name: \"a\"; expected a name that"},
        {"[{\"name\": \"a\", \"group\": 3}, {\"name\": \"b\"}]",
         "schedule.0.group: 3; expected a divisor of the 4 ranks"},
        {"[{\"name\": \"a\", \"group\": 2}, {\"name\": \"c\", \"group\": 3}, {\"name\": \"b\"}]",
         "schedule.1.group: 3; expected a larger multiple"},
        {"[{\"name\": \"a\", \"group\": 2.5}, {\"name\": \"b\"}]",
         "schedule.0.group: 2.5; expected an integer from 1"},
        {"[{\"name\": \"a\", \"period\": \"often\"}]", "schedule.0.period: \"often\"; expected an integer"},
        {"[{\"name\": \"a\", \"lag\": -1}]", "schedule.0.lag: -1; expected an integer from 0"},
        {"[{\"name\": \"a\", \"period\": 2}]", "schedule.0.period: 2; expected at most 1, since lane a"},
        {"[{\"name\": \"a\", \"lag\": 1}]", "schedule.0.lag: 1; expected at most 0, since lane a"},
        {"[{\"name\": \"a\", \"speed\": 1}]", "schedule.0.speed: unknown field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, "schedule=%s", cases[i].lanes);
        assert_no_plan(OVERRIDES(text), 4, cases[i].message);
    }
}
