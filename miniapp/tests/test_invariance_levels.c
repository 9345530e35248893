/// \file
/// The spikes and counts of a network do not depend on the levels in which they travel: every grid of the
/// ranks this test is started with, in up to four levels, against delivery by brute force.

#include "exchange_trial.h"

static const struct outcome *expected_of_grids;

/// Runs a grid with parts, wires, threads and schedules that change from one to the next.
static void check_grid(struct levels levels) {
    static const char *const schedules[] = {"schedule=conventional", "schedule=placement_only",
                                            "schedule=[{\"name\": \"near\", \"group\": \"area\"},"
                                            " {\"name\": \"far\", \"lag\": 2}]"};
    static const char *const wires[] = {"wire=compact", "wire=aer12"};
    static const char *const parts[] = {"alltoallv", "p2p", "rma_put", "direct"};
    char exchange[200], *end = exchange;
    const int number = levels.size[0] + 2 * levels.n;
    const char *side = levels.receiver ? "receiver" : "sender", *merge = levels.merge ? "true" : "false";
    end += sprintf(end, "exchange={\"name\": \"multi_level\", \"parts\": \"%s\", \"side\": \"%s\", ",
                   parts[number % 4], side);
    end += sprintf(end, "\"merge\": %s, \"dimensions\": [", merge);
    for (int l = 0; l < levels.n; l++) end += sprintf(end, "%s%d", l ? ", " : "", levels.size[l]);
    sprintf(end, "]}");
    for (int s = 0; s < 3; s++)
        check_outcome(
            (const char *const[]){exchange, schedules[s], wires[(number + s) % 2], narrow_weight, NULL},
            1 + number % 2, expected_of_grids);
}

static void check_merging_grid(struct levels levels) {
    levels.merge = true;
    check_grid(levels);
}

TEST(every_grid_gives_the_same_checksum) {
    const struct outcome expected = expect(narrow_weight, true);
    expected_of_grids = &expected;
    for_each_grid(4, check_grid);
}

TEST(merging_gives_the_same_checksum) {
    const struct outcome expected = expect(narrow_weight, true);
    expected_of_grids = &expected;
    for_each_grid(4, check_merging_grid);
}

TESTS_NEED_MPI
