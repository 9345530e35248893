/// \file
/// Placements that a file gives: as the file says, and bad files are refused in a line.

#include "support.h"

/// Ranges that are dealt over all ranks from neuron 0 on are what round_robin does, threads included.
TEST(a_file_can_deal_as_round_robin_does) {
    enum { ranks = 5, threads = 3 };
    struct description d;
    struct placement rule, read;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    json_t *file = scattered(&d.network, ranks);
    for (size_t i = 0; i < json_array_size(json_object_get(file, "first")); i++) {
        json_array_set_new(json_object_get(file, "rank"), i, json_integer(0));
        json_array_set_new(json_object_get(file, "over"), i, json_integer(ranks));
        json_array_set_new(json_object_get(file, "origin"), i, json_integer(0));
    }
    assert_true(
        placement_open(&rule, placement_find("round_robin"), &d.network, ranks, threads, NULL, NULL, &error));
    assert_true(
        placement_open(&read, placement_find("from_file"), &d.network, ranks, threads, file, NULL, &error));
    assert_true(placement_ranges(&read) > placement_ranges(&rule));
    for (uint32_t k = 0; k < placement_ranges(&read); k++)
        for (uint32_t gid = read.ranges[k].first; gid < read.ranges[k].end; gid++) {
            const struct range *range = &rule.ranges[read.ranges[k].population];
            assert_int_equal(range_rank(&read.ranges[k], gid), range_rank(range, gid));
            assert_int_equal(range_thread(&read.ranges[k], threads, gid), range_thread(range, threads, gid));
        }
    json_decref(file);
    placement_close(&rule);
    placement_close(&read);
    description_close(&d);
}

/// Refuses scattered() on 4 ranks, of which `change` changes a field, with a message that holds `message`.
static void refuse_file(const struct network *network, const char *change, const char *message) {
    struct placement placement;
    struct error error = {""};
    json_t *file = scattered(network, 4);
    assert_true(description_override(file, change, &error));
    assert_false(placement_open(&placement, placement_find("from_file"), network, 4, 2, file, NULL, &error));
    if (!strstr(error.text, message)) fail_msg("the message is '%s', expected '%s'", error.text, message);
    json_decref(file);
    placement_close(&placement);
}

TEST(bad_files_are_refused) {
    static const char *const cases[][2] = {
        {"kind=machine", "placement.file: kind: \"machine\"; expected \"placement\""},
        {"format_version=2", "placement.file: format_version: 2; expected 1"},
        {"ranks=\"all\"", "placement.file: ranks: 0; expected 4, the ranks of this run"},
        {"ranks=8", "placement.file: ranks: 8; expected 4, the ranks of this run"},
        {"first=0", "placement.file: first: 0 values, first: 0; expected lists of equal length"},
        {"rank=[0, 1]", "placement.file: rank: 2 values, first: 17; expected lists"},
        {"first=[]", "placement.file: first: 0 values"},
        {"first.0=1", "placement.file: neuron 0 is left out, by range 0; expected every neuron once"},
        {"first.3=33", "placement.file: neuron 31 is left out, by range 3"},
        {"first.3=30", "placement.file: neuron 30 is placed twice, by range 3"},
        {"first.3=1.5", "placement.file: first.3: 1.5; expected an integer"},
        {"end.2=7", "placement.file: end.2: 7; expected an integer from 8 to 146"},
        {"end.16=145", "placement.file: neuron 145 is left out, after the last range"},
        {"end.16=147", "placement.file: end.16: 147; expected an integer from 145 to 146"},
        {"rank.1=4", "placement.file: rank.1: 4; expected an integer from 0 to 3"},
        {"rank.1=-1", "placement.file: rank.1: -1; expected an integer from 0 to 3"},
        {"over.2=5", "placement.file: over.2: 5; expected an integer from 1 to"},
        {"over.2=0", "placement.file: over.2: 0; expected an integer from 1 to"},
        {"origin.1=8", "placement.file: origin.1: 8; expected an integer from 0 to 7"},
        {"origin.1=-1", "placement.file: origin.1: -1; expected an integer from 0 to 7"},
        {"weights=1", "placement.file: weights: not 4 values; expected one for each rank"},
        {"weights=[1, 1, 1]", "placement.file: weights: not 4 values; expected one for each rank"},
        {"weights=[1, 1, 1, 0]", "placement.file: weights.3: 0; expected a number from 1e-12 to 1e12"},
    };
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_file(&d.network, cases[i][0], cases[i][1]);
    description_close(&d);
}
