/// \file
/// In-degrees that are drawn: their distribution, that they belong to neuron and projection, what a network
/// expects of them, and what is refused.

#include "app/estimate.h"
#include "app/explain.h"
#include "app/job.h"
#include "one_draw.h"
#include "support.h"

/// Two pools of `pool` neurons, and `targets` neurons that each receive a Poisson number from either.
static void open_pools(struct description *d, int pool, int targets, double mean, int seed) {
    static const char *const text =
        "{'format_version': 1, 'seed': %d, 'time': {'simulate_ms': 1}, 'network': {'populations': ["
        " {'name': 'a', 'size': %d, 'neuron': {'model': 'ignore_and_fire'}},"
        " {'name': 'b', 'size': %d, 'neuron': {'model': 'ignore_and_fire'}},"
        " {'name': 't', 'size': %d, 'neuron': {'model': 'ignore_and_fire'}}], 'projections': ["
        " {'source': 'a', 'target': 't', 'indegree': {'mean': %.17g}, 'delay': {'mean': 1}},"
        " {'source': 'b', 'target': 't', 'indegree': {'mean': %.17g, 'distribution': 'poisson'},"
        "  'delay': {'mean': 1}}]}}";
    char filled[900];
    snprintf(filled, sizeof filled, text, seed, pool, pool, targets, mean, mean);
    open_description(d, filled, NULL);
}

/// Returns ln of the Poisson probability of k.
static double log_poisson(double mean, double k) {
    return k * log(mean) - mean - lgamma(k + 1);
}

TEST(they_have_the_poisson_distribution) {
    static const double means[] = {0.01, 0.7, 7.5, 100.25, 2000, 6000.5};
    enum { n = 200000 };
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        struct description d;
        const double mean = means[m];
        open_pools(&d, 100, n, mean, 5);
        const struct indegree *indegree = &d.network.projections[0].indegree;
        const uint32_t first = d.network.populations[2].first, most = indegree->most;
        uint32_t *seen = ALLOC_ZERO(uint32_t, most + 1);
        double sum = 0, squares = 0, product = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t k = network_indegree(&d.network, 0, first + i);
            double other = network_indegree(&d.network, 1, first + i) - mean;
            assert_in_range(k, indegree->least, most);
            seen[k]++;
            sum += k - mean, squares += (k - mean) * (k - mean), product += (k - mean) * other;
        }
        assert_true(fabs(sum / n) < 4.5 * sqrt(mean / n));
        assert_true(fabs(squares / n - mean) < 4.5 * sqrt((2 * mean * mean + mean) / n));
        assert_true(fabs(product / n) < 4.5 * mean / sqrt(n)); // projections are independent

        double chi2 = 0, rest = n, freedom = 0;
        for (uint32_t k = indegree->least; k <= most; k++) {
            double expected = n * exp(log_poisson(mean, k));
            if (expected < 10) continue;
            chi2 += pow(seen[k] - expected, 2) / expected;
            rest -= seen[k];
            freedom++;
        }
        assert_true(freedom >= 2 && chi2 < freedom + 5 * sqrt(2 * freedom));
        assert_true(rest < 0.01 * n);
        free(seen);
        description_close(&d);
    }
}

TEST(the_extreme_words_draw_what_is_next_to_impossible) {
    static const double means[] = {1e-4, 1, 999.5, 1e6};
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        struct description d;
        open_pools(&d, 3, 1, means[m], 1);
        const struct indegree *indegree = &d.network.projections[0].indegree;
        uint32_t low = indegree_draw(indegree, 0), high = indegree_draw(indegree, UINT32_MAX);
        assert_true(low >= indegree->least && high <= indegree->most && low <= means[m] && high > means[m]);
        // P(K = high) is below 2^-32, though not by much more than what a word can tell.
        assert_true(log_poisson(means[m], high) < log(0x1p-31));
        assert_true(log_poisson(means[m], indegree->most) > log(1e-18));
        description_close(&d);
    }
}

TEST(a_network_expects_the_mean) {
    struct description d;
    open_pools(&d, 100, 1000, 7.25, 1);
    assert_int_equal(network_synapses(&d.network), 14500);
    assert_true(d.network.projections[0].indegree.most > 20); // the bound of the input holds for the most
    assert_true(d.network.narrow_input);
    description_close(&d);
    open_pools(&d, 100, 10, 16000, 1); // 16-bit input would hold the mean, but not the largest
    assert_false(d.network.narrow_input);
    description_close(&d);
    open_pools(&d, 100, 10, 0, 1);
    assert_int_equal(network_indegree(&d.network, 0, 205), 0);
    assert_int_equal(network_synapses(&d.network), 0);
    description_close(&d);
}

/// Returns the lists of the network on one thread: the sources with at least one synapse.
static double count_lists(const struct network *network) {
    bool *met = ALLOC_ZERO(bool, network->n_neurons);
    double lists = 0;
    for (uint32_t p = 0; p < network->n_projections; p++) {
        const struct population *target = &network->populations[network->projections[p].target];
        for (uint32_t t = target->first; t < target->first + target->size; t++)
            for (uint32_t k = 0; k < network_indegree(network, p, t); k++) {
                uint32_t source = network_synapse(network, p, t, k).source;
                lists += !met[source];
                met[source] = true;
            }
    }
    free(met);
    return lists;
}

TEST(the_expected_lists_are_those_of_random_in_degrees) {
    enum { seeds = 4000 };
    double expected = 0, counted = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        struct description d;
        struct placement placement;
        struct schedule schedule;
        struct error error = {""};
        open_pools(&d, 3, 20, 0.15,
                   seed); // misses with e^-1; an in-degree of 0.15 each would with (2/3)^3 < 0.3
        counted += count_lists(&d.network) / seeds;
        if (seed == 1) {
            assert_true(
                placement_open(&placement, placement_find("area"), &d.network, 1, 1, NULL, NULL, &error));
            assert_true(schedule_plan(&schedule, &d, &placement, &error));
            const struct estimate estimate = estimate_rank(&d, &placement, &schedule, 0);
            for (int lane = 0; lane < schedule.n_lanes; lane++) expected += estimate.lane_lists[lane];
            schedule_close(&schedule);
            placement_close(&placement);
        }
        description_close(&d);
    }
    assert_true(fabs(expected - 6 * (1 - exp(-1))) < 1e-9);
    assert_true(fabs(counted / expected - 1) < 0.02);
}

static void assert_refused(const char *indegree, const char *message) {
    char override[200];
    snprintf(override, sizeof override, "network.projections.0.indegree=%s", indegree);
    const char *found = refusal(eight_areas, (const char *const[]){override, NULL});
    if (!strstr(found, message)) fail_msg("%s: the message is '%s', expected '%s'", indegree, found, message);
}

TEST(bad_in_degrees_are_refused) {
    assert_refused("{}", "network.projections.0.indegree.mean: missing; expected a number from 0 to 1");
    assert_refused("{\"mean\": -1}", "indegree.mean: -1; expected a number from 0");
    assert_refused("{\"mean\": 2e6}", "indegree.mean: 2000000.0; expected a number from 0 to 1000000");
    assert_refused("{\"mean\": 1e-5}", "indegree.mean: 1e-05; expected 0, or a number from 0.0001 to 1e+06");
    assert_refused("{\"mean\": 5, \"distribution\": \"normal\"}", "\"normal\"; expected poisson");
    assert_refused("{\"mean\": 5, \"sd\": 2}", "indegree.sd: unknown field; expected mean, distribution");
    assert_refused("\"many\"", "network.projections.0.indegree: \"many\"; expected an integer");
    const char *found =
        refusal(eight_areas, (const char *const[]){"network.projections.0.source=[]",
                                                   "network.projections.0.indegree={\"mean\": 0.5}", NULL});
    assert_non_null(strstr(found, "; expected 0, since the sources hold no neuron"));
}
