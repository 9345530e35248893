/// \file
/// Every placement gives every neuron one owner, and says the same in both directions.

#include "one_draw.h"
#include "support.h"

static uint32_t thread_count(const struct placement *placement, uint32_t population, int rank, int thread) {
    uint32_t n = 0;
    for (uint32_t k = placement->first_range[population]; k < placement->first_range[population + 1]; k++)
        n += placement_share(placement, k, rank, thread).count;
    return n;
}

static void check_ownership(const struct placement *placement) {
    const struct network *network = placement->network;
    int *owner = ALLOC(int, network->n_neurons);
    for (uint32_t gid = 0; gid < network->n_neurons; gid++) owner[gid] = -1;
    uint32_t sum = 0, *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        uint32_t here = 0;
        for (int thread = 0; thread < placement->threads; thread++)
            for (uint32_t k = 0; k < placement_ranges(placement); k++) {
                const struct range *range = &placement->ranges[k];
                struct share share = placement_share(placement, k, rank, thread);
                for (uint32_t i = 0; i < share.count; i++) {
                    uint32_t gid = share.first + i * share.stride;
                    assert_int_equal(network_population(network, gid), range->population);
                    assert_int_equal(owner[gid], -1);
                    assert_int_equal(range_rank(range, gid), rank);
                    assert_int_equal(range_thread(range, placement->threads, gid), thread);
                    owner[gid] = rank;
                }
                here += share.count;
            }
        assert_int_equal(here, neurons[rank]);
        for (uint32_t p = 0; p < network->n_populations; p++) {
            uint32_t on_threads = 0;
            for (int thread = 0; thread < placement->threads; thread++)
                on_threads += thread_count(placement, p, rank, thread);
            assert_int_equal(placement_count(placement, p, rank), on_threads);
        }
        sum += here;
    }
    assert_int_equal(sum, network->n_neurons);
    FREE(owner, neurons);
}

/// Returns the weights ..., 3, 3, 2, 2, 1, 1 of so many ranks.
static json_t *descending(int ranks) {
    json_t *weights = json_array();
    for (int left = ranks; left > 0; left--) json_array_append_new(weights, json_integer((left + 1) / 2));
    return weights;
}

TEST(every_neuron_has_one_owner) {
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (int rule = 0; placement_rules[rule]; rule++)
        for (int ranks = 1; ranks <= 7; ranks++)
            for (int threads = 1; threads <= 3; threads++) {
                struct placement placement;
                struct error error = {""};
                json_t *file = scattered(&d.network, ranks);
                json_t *weights = rank_weights_hooks && placement_rules[rule]->spread && threads > 1
                                      ? descending(ranks)
                                      : NULL;
                if (!placement_open(&placement, placement_rules[rule], &d.network, ranks, threads, file,
                                    weights, &error))
                    fail_msg("%s on %d ranks: %s", placement_rules[rule]->name, ranks, error.text);
                json_decref(file);
                json_decref(weights);
                check_ownership(&placement);
                placement_close(&placement);
            }
    description_close(&d);
}

TEST(batches_draw_the_same_synapses) {
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (uint32_t p = 0; p < d.network.n_projections; p++)
        for (uint32_t n = 1; d.network.projections[p].pool > 0 && n <= network_batch; n++) {
            uint32_t source[network_batch], delay[network_batch], weight[network_batch], first = n * 31;
            network_draw(&d.network, p, n, first, n, source, delay, weight);
            for (uint32_t k = 0; k < n; k++) {
                struct synapse synapse = network_synapse(&d.network, p, n, first + k);
                assert_int_equal(source[k], synapse.source);
                assert_int_equal(delay[k], synapse.delay);
                assert_int_equal(weight[k], synapse.weight_word);
            }
        }
    description_close(&d);
}

TEST(round_robin_is_level) {
    struct description d;
    struct placement placement;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    assert_true(
        placement_open(&placement, placement_find("round_robin"), &d.network, 4, 2, NULL, NULL, &error));
    uint32_t neurons[4];
    placement_neurons(&placement, neurons);
    for (int rank = 0; rank < 4; rank++)
        assert_in_range(neurons[rank], d.network.n_neurons / 4 - 1, d.network.n_neurons / 4 + 2);
    placement_close(&placement);
    description_close(&d);
}

TEST(area_keeps_areas_and_needs_one_per_rank) {
    struct description d;
    struct placement placement;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    assert_true(placement_open(&placement, placement_find("area"), &d.network, 8, 2, NULL, NULL, &error));
    uint32_t neurons[8];
    placement_neurons(&placement, neurons);
    assert_int_equal(neurons[0], 37 + 9); // both populations of area a
    placement_close(&placement);
    assert_false(placement_open(&placement, placement_find("area"), &d.network, 9, 2, NULL, NULL, &error));
    assert_string_equal(error.text,
                        "placement: \"area\" cannot deal 8 area(s) to 9 ranks; expected at most 8 ranks, or "
                        "placement area_group");
    placement_close(&placement);
    description_close(&d);
}

enum { most_areas = 8 };

/// Returns the fewest ranks on which none has more than `most` neurons. A large area has ranks of its own,
/// small areas share ranks. (This goes over all subsets of them: the fewest bins, and the least in the last
/// one.)
static uint64_t fewest_ranks(const uint32_t size[most_areas], uint32_t most) {
    struct {
        uint64_t bins, last;
    } best[1 << most_areas];
    uint64_t own = 0;
    unsigned small = 0;
    for (int a = 0; a < most_areas; a++) {
        if (size[a] > most)
            own += (size[a] + most - 1) / most;
        else
            small |= 1u << a;
    }
    for (unsigned set = 0; set < 1 << most_areas; set++) {
        best[set].bins = set ? UINT64_MAX : 0;
        best[set].last = set ? 0 : most;
        for (int a = 0; a < most_areas; a++) {
            if (!(set & 1u << a & small)) continue;
            unsigned rest = set & ~(1u << a);
            bool fits = best[rest].last + size[a] <= most;
            uint64_t bins = best[rest].bins + !fits, last = fits ? best[rest].last + size[a] : size[a];
            if (bins > best[set].bins || (bins == best[set].bins && last >= best[set].last)) continue;
            best[set].bins = bins;
            best[set].last = last;
        }
    }
    return own + best[small].bins;
}

TEST(area_group_levels_the_ranks) {
    struct description d;
    struct error error = {""};
    uint32_t size[most_areas] = {0};
    open_description(&d, eight_areas, NULL);
    for (uint32_t p = 0; p < d.network.n_populations; p++)
        size[d.network.populations[p].area] += d.network.populations[p].size;
    for (int ranks = 1; ranks <= 20; ranks++) {
        struct placement placement;
        uint32_t best = 1;
        while (fewest_ranks(size, best) > (uint64_t)ranks) best++;
        assert_true(placement_open(&placement, placement_find("area_group"), &d.network, ranks, 1, NULL, NULL,
                                   &error));
        // Dealing the two populations of area a in turn may put one neuron more on a rank.
        uint32_t most = 0, neurons[20];
        placement_neurons(&placement, neurons);
        for (int rank = 0; rank < ranks; rank++) {
            assert_true(neurons[rank] > 0);
            most = neurons[rank] > most ? neurons[rank] : most;
        }
        assert_in_range(most, best, best + 1);
        const double balance = placement_balance(&placement) * d.network.n_neurons / ranks;
        assert_true(balance > most - 0.5 && balance < most + 0.5);
        check_ownership(&placement);
        placement_close(&placement);
    }
    description_close(&d);
}

/// Threads of a rank get equal numbers of neurons, even where every range has a single one. Neighbours on one
/// rank become one range.
TEST_OF_VARIANTS(short_ranges_are_spread_over_threads) {
    enum { ranks = 3, threads = 4 };
    struct description d;
    struct placement placement;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    json_t *file = json_pack("{ss si si so so so}", "kind", "placement", "format_version", 1, "ranks", ranks,
                             "first", json_array(), "end", json_array(), "rank", json_array());
    for (uint32_t gid = 0; gid < d.network.n_neurons; gid++) {
        json_array_append_new(json_object_get(file, "first"), json_integer(gid));
        json_array_append_new(json_object_get(file, "end"), json_integer(gid + 1));
        json_array_append_new(json_object_get(file, "rank"), json_integer(gid < 20 ? 0 : gid * gid % ranks));
    }
    assert_true(placement_open(&placement, placement_find("from_file"), &d.network, ranks, threads, file,
                               NULL, &error));
    check_ownership(&placement);
    assert_int_equal(placement.ranges[0].end, 20);
    for (int rank = 0; rank < ranks; rank++) {
        uint32_t fewest = UINT32_MAX, most = 0;
        for (int thread = 0; thread < threads; thread++) {
            uint32_t n = 0;
            for (uint32_t p = 0; p < d.network.n_populations; p++)
                n += thread_count(&placement, p, rank, thread);
            fewest = n < fewest ? n : fewest;
            most = n > most ? n : most;
        }
        assert_in_range(most - fewest, 0, 1);
    }
    json_decref(file);
    placement_close(&placement);
    description_close(&d);
}
