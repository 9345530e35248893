/// \file
/// Every placement gives every neuron one owner, and says the same in both directions.

#include "support.h"

#include "base/alloc.h"
#include "description/draw.h"
#include <stdlib.h>
#include <string.h>

static void check_ownership(const struct placement *placement) {
    const struct network *network = placement->network;
    int *owner = ALLOC(int, network->n_neurons);
    for (uint32_t gid = 0; gid < network->n_neurons; gid++) owner[gid] = -1;
    uint32_t sum = 0, *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        uint32_t here = 0;
        for (int thread = 0; thread < placement->threads; thread++)
            for (uint32_t k = 0; k < placement_deals(placement); k++) {
                const struct deal *deal = &placement->deals[k];
                struct share share = placement_share(placement, k, rank, thread);
                for (uint32_t i = 0; i < share.count; i++) {
                    uint32_t gid = share.first + i * share.stride;
                    assert_int_equal(network_population(network, gid), deal->population);
                    assert_int_equal(owner[gid], -1);
                    assert_int_equal(deal_rank(deal, gid), rank);
                    assert_int_equal(deal_thread(deal, placement->threads, gid), thread);
                    owner[gid] = rank;
                }
                here += share.count;
            }
        assert_int_equal(here, neurons[rank]);
        for (uint32_t p = 0; p < network->n_populations; p++) {
            uint32_t on_threads = 0;
            for (int thread = 0; thread < placement->threads; thread++)
                on_threads += placement_thread_count(placement, p, rank, thread);
            assert_int_equal(placement_count(placement, p, rank), on_threads);
        }
        sum += here;
    }
    assert_int_equal(sum, network->n_neurons);
    free(owner);
    free(neurons);
}

static void every_neuron_has_one_owner(void **state) {
    (void)state;
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (int rule = 0; placement_rules[rule]; rule++)
        for (int ranks = 1; ranks <= 7; ranks++)
            for (int threads = 1; threads <= 3; threads++) {
                struct placement placement;
                struct error error = {""};
                json_t *file = scattered(&d.network, ranks);
                if (!placement_open(&placement, placement_rules[rule], &d.network, ranks, threads, file,
                                    &error))
                    fail_msg("%s on %d ranks: %s", placement_rules[rule]->name, ranks, error.text);
                json_decref(file);
                check_ownership(&placement);
                placement_close(&placement);
            }
    description_close(&d);
}

static void batches_draw_the_same_synapses(void **state) {
    (void)state;
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

static void round_robin_is_level(void **state) {
    (void)state;
    struct description d;
    struct placement placement;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    assert_true(placement_open(&placement, placement_find("round_robin"), &d.network, 4, 2, NULL, &error));
    uint32_t neurons[4];
    placement_neurons(&placement, neurons);
    for (int rank = 0; rank < 4; rank++)
        assert_in_range(neurons[rank], d.network.n_neurons / 4 - 1, d.network.n_neurons / 4 + 2);
    placement_close(&placement);
    description_close(&d);
}

static void area_keeps_areas_and_needs_one_per_rank(void **state) {
    (void)state;
    struct description d;
    struct placement placement;
    struct error error = {""};
    open_description(&d, eight_areas, NULL);
    assert_true(placement_open(&placement, placement_find("area"), &d.network, 8, 2, NULL, &error));
    uint32_t neurons[8];
    placement_neurons(&placement, neurons);
    assert_int_equal(neurons[0], 37 + 9); // both populations of area a
    placement_close(&placement);
    assert_false(placement_open(&placement, placement_find("area"), &d.network, 9, 2, NULL, &error));
    assert_string_equal(error.text,
                        "placement: \"area\" cannot deal 8 area(s) to 9 ranks; allowed: at most 8 ranks, or "
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

static void area_group_levels_the_ranks(void **state) {
    (void)state;
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
        assert_true(
            placement_open(&placement, placement_find("area_group"), &d.network, ranks, 1, NULL, &error));
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

/// Ranges that are dealt over all ranks from neuron 0 on are what round_robin does, threads included.
static void a_file_can_deal_as_round_robin_does(void **state) {
    (void)state;
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
        placement_open(&rule, placement_find("round_robin"), &d.network, ranks, threads, NULL, &error));
    assert_true(placement_open(&read, placement_find("from_file"), &d.network, ranks, threads, file, &error));
    assert_true(placement_deals(&read) > placement_deals(&rule));
    for (uint32_t k = 0; k < placement_deals(&read); k++)
        for (uint32_t gid = read.deals[k].first; gid < read.deals[k].end; gid++) {
            const struct deal *deal = &rule.deals[read.deals[k].population];
            assert_int_equal(deal_rank(&read.deals[k], gid), deal_rank(deal, gid));
            assert_int_equal(deal_thread(&read.deals[k], threads, gid), deal_thread(deal, threads, gid));
        }
    json_decref(file);
    placement_close(&rule);
    placement_close(&read);
    description_close(&d);
}

/// Threads of a rank get equal numbers of neurons, even where every range has a single one. Neighbours on one
/// rank become one deal.
static void short_ranges_are_spread_over_threads(void **state) {
    (void)state;
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
    assert_true(
        placement_open(&placement, placement_find("from_file"), &d.network, ranks, threads, file, &error));
    check_ownership(&placement);
    assert_int_equal(placement.deals[0].end, 20);
    for (int rank = 0; rank < ranks; rank++) {
        uint32_t fewest = UINT32_MAX, most = 0;
        for (int thread = 0; thread < threads; thread++) {
            uint32_t n = 0;
            for (uint32_t p = 0; p < d.network.n_populations; p++)
                n += placement_thread_count(&placement, p, rank, thread);
            fewest = n < fewest ? n : fewest;
            most = n > most ? n : most;
        }
        assert_in_range(most - fewest, 0, 1);
    }
    json_decref(file);
    placement_close(&placement);
    description_close(&d);
}

/// Refuses scattered() on 4 ranks, of which `change` changes a field, with a message that holds `message`.
static void refuse_file(const struct network *network, const char *change, const char *message) {
    struct placement placement;
    struct error error = {""};
    json_t *file = scattered(network, 4);
    assert_true(description_override(file, change, &error));
    assert_false(placement_open(&placement, placement_find("from_file"), network, 4, 2, file, &error));
    if (!strstr(error.text, message)) fail_msg("the message is '%s', expected '%s'", error.text, message);
    json_decref(file);
    placement_close(&placement);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"kind=machine", "placement.file: kind: \"machine\"; allowed: \"placement\""},
        {"format_version=2", "placement.file: format_version: 2; allowed: 1"},
        {"ranks=\"all\"", "placement.file: ranks: missing; allowed: the number of ranks"},
        {"ranks=8", "placement.file: ranks: 8; allowed: 4, the ranks of this run"},
        {"first=0", "placement.file: first: not a list; allowed: a list of integers"},
        {"rank=[0, 1]", "placement.file: rank has 2 values and first has 17; allowed: as many"},
        {"first=[]", "placement.file: first has 0 values"},
        {"first.0=1", "placement.file: neuron 0 is left out, by range 0; allowed: every neuron once"},
        {"first.3=33", "placement.file: neuron 31 is left out, by range 3"},
        {"first.3=30", "placement.file: neuron 30 is placed twice, by range 3"},
        {"first.3=1.5", "placement.file: first.3: not an integer"},
        {"end.2=7", "placement.file: end.2: 7; allowed: an integer from 8 to 146"},
        {"end.16=145", "placement.file: neuron 145 is left out, after the last range"},
        {"end.16=147", "placement.file: end.16: 147; allowed: an integer from 145 to 146"},
        {"rank.1=4", "placement.file: rank.1: 4; allowed: an integer from 0 to 3"},
        {"rank.1=-1", "placement.file: rank.1: -1; allowed: an integer from 0 to 3"},
        {"over.2=5", "placement.file: over.2: 5; allowed: an integer from 1 to"},
        {"over.2=0", "placement.file: over.2: 0; allowed: an integer from 1 to"},
        {"origin.1=8", "placement.file: origin.1: 8; allowed: an integer from 0 to 7"},
        {"origin.1=-1", "placement.file: origin.1: -1; allowed: an integer from 0 to 7"},
        {"weights=1", "placement.file: weights: not 4 values; allowed: one for each rank"},
        {"weights=[1, 1, 1]", "placement.file: weights: not 4 values; allowed: one for each rank"},
        {"weights=[1, 1, 1, 0]", "placement.file: weights.3: 0; allowed: a number from 1e-12 to 1e12"},
    };
    struct description d;
    open_description(&d, eight_areas, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_file(&d.network, cases[i][0], cases[i][1]);
    description_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_neuron_has_one_owner),
        cmocka_unit_test(batches_draw_the_same_synapses),
        cmocka_unit_test(round_robin_is_level),
        cmocka_unit_test(area_group_levels_the_ranks),
        cmocka_unit_test(area_keeps_areas_and_needs_one_per_rank),
        cmocka_unit_test(a_file_can_deal_as_round_robin_does),
        cmocka_unit_test(short_ranges_are_spread_over_threads),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
