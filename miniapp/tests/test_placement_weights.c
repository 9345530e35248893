/// \file
/// Weights of ranks: every rule that heeds them gives each rank its share, and bad ones are refused in a
/// line.

#include "description/unequal.h"
#include "support.h"

/// Returns the weights 3, 1, 1, 3, 1, 1, ... of so many ranks.
static json_t *every_third(int ranks) {
    json_t *weights = json_array();
    for (int rank = 0; rank < ranks; rank++) json_array_append_new(weights, json_integer(rank % 3 ? 1 : 3));
    return weights;
}

TEST(ranks_have_their_share_by_weight) {
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (int rule = 0; placement_rules[rule]; rule++)
        for (int ranks = 1; ranks <= 14 && placement_rules[rule]->spread; ranks++)
            for (int threads = 1; threads <= 3; threads += 2) {
                struct placement placement, equal;
                struct error error = {""};
                json_t *weights = every_third(ranks);
                assert_true(placement_open(&placement, placement_rules[rule], &d.network, ranks, threads,
                                           NULL, weights, &error));
                assert_true(placement_open(&equal, placement_rules[rule], &d.network, ranks, threads, NULL,
                                           NULL, &error));
                equal.weights = ALLOC(double, (size_t)ranks);
                for (int rank = 0; rank < ranks; rank++) equal.weights[rank] = rank % 3 ? 1 : 3;
                assert_true(placement_balance(&placement) <= placement_balance(&equal) + 1e-9);
                if (strcmp(placement_rules[rule]->name, "round_robin") == 0) // to within a neuron
                    assert_true(placement_balance(&placement) <
                                1 + 1.5 * ranks / d.network.n_neurons * 5 / 3);
                json_decref(weights);
                placement_close(&equal);
                placement_close(&placement);
            }
    description_close(&d);
}

/// Equal weights are none: the rule does what it does without.
TEST(equal_weights_change_nothing) {
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (int rule = 0; placement_rules[rule]; rule++) {
        if (!placement_rules[rule]->spread) continue;
        struct placement placement, usual;
        struct error error = {""};
        json_t *weights = json_pack("[f, f, f, f]", 0.3, 0.3, 0.3, 0.3);
        assert_true(
            placement_open(&placement, placement_rules[rule], &d.network, 4, 2, NULL, weights, &error));
        assert_true(placement_open(&usual, placement_rules[rule], &d.network, 4, 2, NULL, NULL, &error));
        assert_int_equal(placement_ranges(&placement), placement_ranges(&usual));
        assert_memory_equal(placement.ranges, usual.ranges, placement_ranges(&usual) * sizeof *usual.ranges);
        json_decref(weights);
        placement_close(&placement);
        placement_close(&usual);
    }
    description_close(&d);
}

/// An area stays on as few ranks as its size needs, and areas keep their order.
TEST(weights_of_area_group_keep_areas_together) {
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (int ranks = 2; ranks <= 8; ranks++) {
        struct area_ranks spans[8];
        double weights[8];
        for (int rank = 0; rank < ranks; rank++) weights[rank] = 1 + rank % 2;
        placement_spread_in_order(&d.network, ranks, weights, spans);
        uint32_t size[8] = {0};
        for (uint32_t p = 0; p < d.network.n_populations; p++)
            size[d.network.populations[p].area] += d.network.populations[p].size;
        struct area_ranks last = {0, 0};
        for (uint32_t area = 0; area < d.network.n_areas; area++) {
            const struct area_ranks own = spans[area];
            if (size[area] == 0) continue;
            const bool shared = last.first == own.first && last.ranks == 1 && own.ranks == 1;
            assert_true(shared || own.first == last.first + last.ranks);
            last = own;
        }
        assert_int_equal(last.first + last.ranks, ranks);
    }
    description_close(&d);
}

TEST(bad_weights_are_refused) {
    static const char *const cases[][2] = {
        {"{\"name\": \"area_group\", \"weights\": [1, 2, 3]}",
         "placement.weights: not 2 values; expected one for each rank"},
        {"{\"name\": \"area_group\", \"weights\": [1, 0]}",
         "placement.weights.1: 0; expected a number from 1e-12 to 1000000000000"},
        {"{\"name\": \"round_robin\", \"weights\": [0, 0]}",
         "placement.weights.0: 0; expected a number from 1e-12 to 1000000000000"},
        {"{\"name\": \"round_robin\", \"weights\": [-1, 2]}",
         "placement.weights.0: -1; expected a number from 1e-12 to 1000000000000"},
        {"{\"name\": \"round_robin\", \"weights\": [1, \"2\"]}",
         "placement.weights.1: \"2\"; expected a number from 1e-12 to 1000000000000"},
        {"{\"name\": \"area\", \"weights\": [1, 2]}",
         "placement.weights: with placement \"area\"; expected with: round_robin, area_group"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "placement=%s", cases[i][0]);
        assert_no_plan(OVERRIDES(text), 2, cases[i][1]);
    }
}
