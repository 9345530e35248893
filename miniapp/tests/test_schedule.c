/// \file
/// Schedules: lanes, the exactness check, the choice of exchanges.

#include "support.h"

TEST(structure_aware_has_a_near_and_a_far_lane) {
    struct planned *p = accept(OVERRIDES("schedule=structure_aware"), 4);
    const struct lane_plan *near = &p->schedule.lanes[0], *far = &p->schedule.lanes[1];
    assert_int_equal(p->schedule.n_lanes, 2);
    assert_int_equal(near->groups.largest, 1);
    assert_string_equal(near->exchange.backend->name, "self");
    assert_int_equal(near->period, 1);
    assert_int_equal(near->shortest_delay, 2);
    assert_int_equal(far->groups.largest, 4);
    assert_string_equal(far->exchange.backend->name, "alltoallv");
    assert_int_equal(far->period, 3);
    assert_int_equal(far->shortest_delay, 6);
    // The near lane has the projections within area a, and 9 of the 46 neurons of the mixed pool onto it.
    uint64_t sum = near->n_synapses + far->n_synapses;
    assert_in_range(sum, network_synapses(&p->d.network) - 1, network_synapses(&p->d.network) + 1);
    assert_int_equal(p->d.network.projections[2].pool, 20 + 9 + 16 + 1);
    assert_int_equal(near->n_synapses, 37 * 12 + 9 * 5 + (37 * 20 * 9 + 23) / 46);
    finish(p);
}

TEST(round_robin_near_lanes_span_all_ranks) {
    struct planned *p = accept(OVERRIDES("schedule=structure_aware", "placement=round_robin"), 4);
    assert_int_equal(p->schedule.lanes[0].groups.largest, 4);
    assert_int_equal(p->schedule.lanes[0].groups.groups, 1);
    finish(p);
}

TEST(near_lanes_span_the_ranks_of_an_area) {
    struct planned *p = accept(OVERRIDES("schedule=structure_aware", "placement=area_group"), 16);
    const struct grouping *near = &p->schedule.lanes[0].groups;
    for (uint32_t area = 0; area < p->d.network.n_areas; area++) {
        struct span span = p->schedule.areas[area];
        assert_int_equal(near->first[span.first], span.first);
        assert_int_equal(near->size[span.last], span.last - span.first + 1);
    }
    assert_true(near->largest > 1 && near->groups > 1);
    assert_int_equal(p->schedule.lanes[1].groups.largest, 16);
    finish(p);
}

/// Area a lies on ranks 0 and 4, b on 1, d and e on 2, h on 2 and 3, f on 3, g on 5.
TEST_OF_VARIANTS(lanes_follow_areas_on_ranks_that_are_not_consecutive) {
    enum { ranks = 6 };
    struct description d;
    struct placement placement;
    struct schedule schedule;
    struct error error = {""};
    open_description(&d, eight_areas,
                     OVERRIDES("schedule=[{\"name\": \"near\", \"group\": \"area\"},"
                               " {\"name\": \"b-to-a\", \"from\": \"b\", \"to\": \"a\"},"
                               " {\"name\": \"pair\", \"group\": 2}, {\"name\": \"all\"}]"));
    json_t *file =
        json_pack("{ss si si s[iiiiiii] s[iiiiiii] s[iiiiiii] s[iiiiiii]}", "kind", "placement",
                  "format_version", 1, "ranks", ranks, "first", 0, 37, 57, 89, 98, 114, 130, "end", 37, 57,
                  89, 98, 114, 130, 146, "rank", 0, 1, 2, 4, 3, 5, 2, "over", 1, 1, 1, 1, 1, 1, 2);
    assert_true(
        placement_open(&placement, placement_find("from_file"), &d.network, ranks, 1, file, NULL, &error));
    assert_true(schedule_plan(&schedule, &d, &placement, &error));
    const struct grouping *near = &schedule.lanes[0].groups, *b_to_a = &schedule.lanes[1].groups;
    static const int first[2][ranks] = {{0, 1, 2, 2, 0, 5}, {0, 0, 2, 3, 0, 5}};
    static const int place[2][ranks] = {{0, 0, 0, 1, 1, 0}, {0, 1, 0, 0, 2, 0}};
    static const int size[2][ranks] = {{2, 1, 2, 2, 2, 1}, {3, 3, 1, 1, 3, 1}};
    assert_memory_equal(near->first, first[0], sizeof *first);
    assert_memory_equal(near->place, place[0], sizeof *place);
    assert_memory_equal(near->size, size[0], sizeof *size);
    assert_memory_equal(b_to_a->first, first[1], sizeof *first);
    assert_memory_equal(b_to_a->place, place[1], sizeof *place);
    assert_memory_equal(b_to_a->size, size[1], sizeof *size);
    assert_int_equal(near->groups, 4);
    assert_int_equal(near->largest, 2);
    const uint32_t a = 0, b = 1, dd = 3, f = 5, g = 6;
    assert_int_equal(schedule_lane(&schedule, a, a), 0);
    assert_int_equal(schedule_lane(&schedule, b, a), 1);
    assert_int_equal(schedule_lane(&schedule, f, dd), 2); // ranks 2 and 3
    assert_int_equal(schedule_lane(&schedule, g, f), 3);
    assert_int_equal(schedule_lane(&schedule, a, g), 3); // a lies in two blocks
    json_decref(file);
    schedule_close(&schedule);
    placement_close(&placement);
    description_close(&d);
}

TEST(every_schedule_runs_on_one_rank_without_mpi) {
    for (int s = 0; schedule_rules[s]; s++) {
        char text[80];
        snprintf(text, sizeof text, "schedule=%s", schedule_rules[s]->name);
        struct planned *p = accept(OVERRIDES(text, "delay_ratio=auto"), 1);
        for (int l = 0; l < p->schedule.n_lanes; l++)
            assert_string_equal(p->schedule.lanes[l].exchange.backend->name, "self");
        finish(p);
    }
}

TEST(overlapped_divides_the_ratio_by_the_windows_under_way) {
    struct planned *p = accept(OVERRIDES("schedule=overlapped", "delay_ratio=2"), 2);
    assert_int_equal(p->schedule.lanes[1].period, 1);
    assert_int_equal(p->schedule.lanes[1].lag, 1);
    finish(p);
    p = accept(OVERRIDES("schedule=overlapped", "lag=2"), 2);
    assert_int_equal(p->schedule.lanes[1].period, 1);
    assert_int_equal(p->schedule.lanes[1].lag, 2);
    finish(p);
    p = accept(OVERRIDES("schedule=overlapped", "delay_ratio=auto"), 2);
    assert_int_equal(p->d.delay_ratio, 2); // 3 is exact, but odd
    finish(p);
    assert_no_plan(OVERRIDES("schedule=overlapped"), 2,
                   "delay_ratio: 3; expected a multiple of 2, since lane far");
    assert_no_plan(OVERRIDES("schedule=overlapped", "delay_ratio=4"), 2,
                   "delay_ratio: 4; expected at most 3");
    assert_no_plan(OVERRIDES("schedule=overlapped", "delay_ratio=auto", "lag=3"), 2, "delay_ratio: \"auto\"");
}

TEST(hierarchical_has_groups_between_area_and_world) {
    struct planned *p = accept(OVERRIDES("schedule=hierarchical"), 4);
    const struct lane_plan *group = &p->schedule.lanes[1];
    assert_int_equal(p->schedule.n_lanes, 3);
    assert_int_equal(group->groups.largest, 2);
    assert_int_equal(group->groups.groups, 2);
    assert_true(group->period >= 3); // the longest that is exact there
    assert_int_equal(p->schedule.lanes[2].period, 3);
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < 8; b++) {
            const int rank = p->schedule.areas[a].first, other = p->schedule.areas[b].first;
            assert_int_equal(schedule_lane(&p->schedule, a, b), a == b ? 0 : rank / 2 == other / 2 ? 1 : 2);
        }
    finish(p);
}

TEST(what_is_left_open_is_filled_in) {
    struct planned *p = accept(OVERRIDES("schedule=structure_aware"), 2);
    assert_string_equal(json_string_value(json_object_get(p->d.json.object, "exchange")), "alltoallv");
    assert_string_equal(json_string_value(json_object_get(p->d.json.object, "wire")), "compact");
    finish(p);
    p = accept(OVERRIDES("schedule=overlapped", "delay_ratio=2"), 2);
    json_t *exchange = json_object_get(p->d.json.object, "exchange");
    assert_string_equal(json_string_value(json_object_get(exchange, "near")), "alltoallv");
    assert_string_equal(json_string_value(json_object_get(exchange, "far")), "ialltoallv");
    assert_string_equal(p->schedule.lanes[1].exchange.backend->name, "ialltoallv");
    finish(p);
    p = accept(
        OVERRIDES("schedule=structure_aware", "exchange={\"near\": \"p2p\"}", "wire={\"far\": \"aer12\"}"),
        2);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(p->d.json.object, "exchange"), "far")),
        "alltoallv");
    assert_string_equal(json_string_value(json_object_get(json_object_get(p->d.json.object, "wire"), "near")),
                        "compact");
    assert_string_equal(p->schedule.lanes[1].exchange.backend->name, "alltoallv");
    finish(p);
}

TEST(a_longer_window_than_the_shortest_delay_is_refused) {
    assert_no_plan(OVERRIDES("schedule=structure_aware", "delay_ratio=4"), 2,
                   "delay_ratio: 4; expected at most 3, since lane far has delays from 0.6 ms and its window "
                   "would last 0.8 ms");
    assert_no_plan(OVERRIDES("time.cycle_ms=0.4", "time.warmup_ms=4"), 2,
                   "time.cycle_ms: 0.4; expected at most 0.2, the shortest delay in lane world");
}

TEST(auto_takes_the_largest_exact_ratio) {
    struct planned *p =
        accept(OVERRIDES("schedule=structure_aware", "delay_ratio=auto", "time.simulate_ms=20"), 2);
    assert_int_equal(p->schedule.lanes[1].period, 3); // though 3 does not divide the 100 cycles
    finish(p);
    p = accept(OVERRIDES("delay_ratio=auto"), 2);
    assert_int_equal(p->d.delay_ratio, 1); // conventional uses none
    finish(p);
    p = accept(OVERRIDES("schedule=overlapped", "delay_ratio=auto", "lag=2", "network.projections=[]",
                         "time.simulate_ms=1e6"),
               2);
    assert_int_equal(p->d.delay_ratio, 999999); // of 5000000 cycles: more than a description may ask for
    finish(p);
}

TEST_OF_VARIANTS(composed_exchanges_are_read) {
    struct planned *p = accept(
        OVERRIDES(
            "exchange={\"name\": \"multi_level\", \"dimensions\": [2, 4], \"parts\": [\"p2p\", \"direct\"]}"),
        8);
    const struct levels *levels = &p->schedule.lanes[0].exchange.levels;
    assert_int_equal(levels->n, 2);
    assert_int_equal(levels->size[0], 2);
    assert_int_equal(levels->size[1], 4);
    assert_string_equal(levels->part[0]->name, "p2p");
    assert_string_equal(levels->part[1]->name, "direct");
    finish(p);
    p = accept(OVERRIDES("schedule=structure_aware",
                         "exchange={\"name\": \"multi_level\", \"dimensions\": [8], \"parts\": \"p2p\"}"),
               8);
    assert_string_equal(p->schedule.lanes[0].exchange.backend->name, "self"); // its ranks are alone
    assert_string_equal(p->schedule.lanes[1].exchange.levels.part[0]->name, "p2p");
    finish(p);
    finish(accept(OVERRIDES("exchange=multi_level"), 7));
}

#define GRID(fields) OVERRIDES("exchange={\"name\": \"multi_level\", " fields "}")

TEST_OF_VARIANTS(unfit_grids_are_refused) {
    const char *const fits = "exchange.world.dimensions: [2,2]; expected 1 to 8 integers whose product is ";
    char expected[200];
    for (int ranks = 1; ranks <= 8; ranks++) {
        if (ranks == 4) continue;
        snprintf(expected, sizeof expected, "%s%d, the ranks of the group of lane world", fits, ranks);
        assert_no_plan(GRID("\"dimensions\": [2, 2]"), ranks, expected);
    }
    assert_no_plan(GRID("\"dimensions\": [999999, 2]"), 4, "whose product is 4, the ranks");
    assert_no_plan(GRID("\"dimensions\": []"), 4,
                   "exchange.world.dimensions: []; expected a list of 1 to 8 integers");
    assert_no_plan(GRID("\"dimensions\": [1,1,1,1,1,1,1,2,2]"), 4, "expected a list of 1 to 8 integers >= 1");
    assert_no_plan(GRID("\"dimensions\": [2.5, 2]"), 4, "dimensions.0: 2.5; expected an integer from 1");
    assert_no_plan(GRID("\"dimensions\": [4, 0]"), 4, "dimensions.1: 0; expected an integer from 1");
    assert_no_plan(GRID("\"dimensions\": [4294967298, 2]"), 4,
                   "dimensions.0: 4294967298; expected an integer");
    assert_no_plan(GRID("\"dimensions\": \"2x2\""), 4, "dimensions: \"2x2\"; expected a list");
    assert_no_plan(GRID("\"dimensions\": [2, 2], \"parts\": [\"p2p\"]"), 4,
                   "exchange.world.parts: [\"p2p\"]; expected a name, or a list of 2, one for each level");
    assert_no_plan(GRID("\"parts\": [\"p2p\", \"allgather\"]"), 4,
                   "exchange: part \"allgather\" for lane world on 2 rank(s); expected alltoall, alltoallv");
    assert_no_plan(GRID("\"parts\": \"two_level\""), 4, "exchange: part \"two_level\" for lane world");
    assert_no_plan(GRID("\"parts\": 3"), 4, "exchange.world.parts: 3; expected a string");
    assert_no_plan(GRID("\"parts\": [3, \"p2p\"]"), 4, "exchange.world.parts.0: 3; expected a string");
    assert_no_plan(GRID("\"side\": \"both\""), 4, "side: \"both\"; expected sender, receiver");
    assert_no_plan(
        GRID("\"group\": 2"), 4,
        "exchange.world.group: unknown field; expected name, dimensions, parts, side, merge, order, table");
}

TEST_OF_VARIANTS(a_placement_from_a_file_needs_one) {
    assert_no_plan(OVERRIDES("placement=from_file"), 2,
                   "placement: \"from_file\"; expected {\"name\": \"from_file\", \"file\": FILE.json}");
}

TEST(unknown_and_unfit_names_are_refused) {
    assert_no_plan(OVERRIDES("schedule=eager"), 2,
                   "schedule: \"eager\"; expected conventional, placement_only, structure_aware");
    assert_no_plan(OVERRIDES("placement=here"), 2, "placement: \"here\"; expected round_robin, area");
    assert_no_plan(OVERRIDES("placement.name=area", "placement.file=p.json"), 2,
                   "placement.file: \"p.json\", with placement \"area\"; expected with: ");
    assert_no_plan(OVERRIDES("placement.name=here", "placement.file=p.json"), 2,
                   "expected round_robin, area");
    assert_no_plan(OVERRIDES("exchange=pigeon"), 1,
                   "exchange: \"pigeon\" for lane world on 1 rank(s); expected self, alltoall, alltoallv");
    assert_no_plan(OVERRIDES("exchange=self"), 2,
                   "exchange: \"self\" for lane world on 2 rank(s); expected alltoall, alltoallv");
    assert_no_plan(OVERRIDES("exchange.fra=alltoall"), 2, "exchange.fra: unknown field; expected world");
    assert_no_plan(OVERRIDES("exchange={\"name\": \"alltoall\", \"group\": 2}"), 2,
                   "exchange.world.group: unknown field; expected name");
    assert_no_plan(OVERRIDES("exchange.name=3"), 2,
                   "exchange: {\"name\":3} for lane world on 2 rank(s); expected");
    assert_no_plan(OVERRIDES("wire.world.name=aer12"), 2,
                   "wire: {\"name\":\"aer12\"} for lane world; expected");
    assert_no_plan(OVERRIDES("wire=morse"), 2, "wire: \"morse\" for lane world; expected compact, aer12");
}
