/// \file
/// Input from outside: the numbers of events are Poisson, independent, and those of the neuron and step.

#include "one_draw.h"
#include "support.h"

static const double means[] = {1e-6, 0.01, 0.12, 1.2, 20, 100};
enum { n_means = sizeof means / sizeof *means, neurons = 203, steps = 2000 };

TEST(the_table_is_the_distribution) {
    for (int m = 0; m < n_means; m++) {
        const struct poisson poisson = poisson_open(means[m]);
        long double tail = 0;
        assert_true(poisson.n <= poisson_table_max && poisson_most(&poisson) <= UINT8_MAX);
        for (int k = 400; k > 0; k--) {
            tail += expl(k * logl(means[m]) - (long double)means[m] - lgammal(k + 1.0L));
            long double found = k <= (int)poisson.always ? 4294967296.0L
                                : k <= (int)poisson_most(&poisson)
                                    ? poisson.at_least[k - 1 - (int)poisson.always]
                                    : 0;
            assert_true(fabsl(found - tail * 4294967296.0L) < 0.5001L);
        }
    }
}

TEST(the_largest_mean_fits) {
    assert_true(poisson_open(poisson_mean_max).n <= poisson_table_max);
    const struct poisson least = poisson_open(poisson_mean_min), none = poisson_open(0);
    assert_true(fabs(least.at_least[0] / 4294967296.0 / poisson_mean_min - 1) < 1e-3);
    assert_int_equal(poisson_most(&none), 0);
}

/// A population with input of that mean, which weighs 3 units.
static struct population population_of(double mean) {
    return (struct population){.size = neurons, .external = {.mean = mean, .weight_units = 3}};
}

/// events[step][neuron]
static uint8_t (*draw_all(double mean, uint64_t seed))[neurons] {
    uint8_t(*events)[neurons] = alloc(steps, sizeof *events);
    struct population population = population_of(mean);
    struct network network = {.seed = seed, .populations = &population, .n_populations = 1};
    struct external_input *external = external_open(&network, 0, (struct share){0, 1, neurons});
    for (uint32_t step = 0; step < steps; step++) {
        int32_t input[neurons] = {0};
        uint64_t sum = 0, returned = external_add(external, step, input);
        for (int i = 0; i < neurons; i++) {
            assert_int_equal(input[i] % 3, 0);
            sum += events[step][i] = (uint8_t)(input[i] / 3);
        }
        assert_int_equal(returned, sum);
    }
    external_close(external);
    return events;
}

TEST(numbers_are_poisson) {
    for (int m = 1; m < n_means; m++) {
        uint8_t(*events)[neurons] = draw_all(means[m], 11);
        const double n = (double)steps * neurons, mean = means[m];
        double seen[256] = {0}, chi2 = 0, sum = 0, squares = 0;
        int cells = 0;
        for (int step = 0; step < steps; step++)
            for (int i = 0; i < neurons; i++) {
                seen[events[step][i]]++;
                sum += events[step][i];
                squares += (events[step][i] - mean) * (events[step][i] - mean);
            }
        for (int k = 0; k < 256; k++) {
            double expected = n * exp(k * log(mean) - mean - lgamma(k + 1.0));
            if (expected < 10) continue;
            chi2 += (seen[k] - expected) * (seen[k] - expected) / expected;
            cells++;
        }
        assert_true(chi2 < cells + 4 * sqrt(2.0 * cells));
        assert_true(fabs(sum / n - mean) < 4 * sqrt(mean / n));
        assert_true(fabs(squares / n - mean) < 4 * sqrt((mean + 2 * mean * mean) / n));
        free(events);
    }
}

/// Returns the correlation of numbers `steps_apart` steps and `neurons_apart` neurons apart, times the root
/// of their number.
static double correlation(uint8_t (*events)[neurons], double mean, int steps_apart, int neurons_apart) {
    double sum = 0, n = 0;
    for (int step = 0; step + steps_apart < steps; step++)
        for (int i = 0; i + neurons_apart < neurons; i++, n++)
            sum += (events[step][i] - mean) * (events[step + steps_apart][i + neurons_apart] - mean);
    return sum / mean / sqrt(n);
}

TEST(numbers_are_independent) {
    static const int apart[][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {0, 1}, {0, 8}, {1, 1}, {0, 64}, {100, 0}};
    for (int m = 1; m < n_means; m++) {
        uint8_t(*events)[neurons] = draw_all(means[m], 12);
        for (size_t a = 0; a < sizeof apart / sizeof *apart; a++)
            assert_true(fabs(correlation(events, means[m], apart[a][0], apart[a][1])) < 4);
        free(events);
    }
}

TEST(numbers_belong_to_neuron_and_step) {
    struct population populations[] = {population_of(0), population_of(1.2)};
    struct network network = {.seed = 5, .populations = populations, .n_populations = 2};
    const struct share shares[] = {{1000, 1, 70}, {7, 13, 65}, {4000000000u, 3, 1}};
    const struct poisson poisson = poisson_open(1.2);
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        struct external_input *external = external_open(&network, 1, shares[s]);
        for (uint32_t step = 2; step < 30; step += 1 + step % 3) { // also with steps left out
            int32_t input[70];
            for (int i = 0; i < 70; i++) input[i] = i;
            external_add(external, step, input);
            for (uint32_t i = 0; i < shares[s].count; i++) {
                uint32_t gid = shares[s].first + i * shares[s].stride;
                struct rng_words drawn = rng_draw(5, rng_external, 1, gid, step / 4);
                assert_int_equal(input[i], i + 3 * poisson_draw(&poisson, drawn.word[step % 4]));
            }
        }
        external_close(external);
    }
}

static const char *const network_text =
    "{'format_version': 1, 'time': {'simulate_ms': 1, 'resolution_ms': 0.5}, 'network': {'populations': ["
    " {'name': 'a', 'size': 9, 'neuron': {'model': 'ignore_and_fire'},"
    "  'external': {'rate_hz': 4, 'synapses': 500, 'weight': 0.5}}]}}";

static void assert_refused(const char *override, const char *message) {
    const char *found = refusal(network_text, (const char *const[]){override, NULL});
    if (!strstr(found, message)) fail_msg("%s: the message is '%s', expected '%s'", override, found, message);
}

TEST(it_is_read_and_bad_input_is_refused) {
    struct description d;
    open_description(&d, network_text, NULL);
    const struct external *external = &d.network.populations[0].external;
    assert_true(fabs(external->mean - 1) < 1e-12);
    assert_true(external->weight_units * d.network.weight_unit == 0.5);
    assert_true(external->most > 10);
    description_close(&d);
    assert_refused("network.populations.0.external.rate_hz=-1",
                   "external.rate_hz: -1; expected a number from 0");
    assert_refused("network.populations.0.external.rate_hz=401",
                   "external.rate_hz: 401; expected 0, or 4.8e-07 to 400");
    assert_refused("network.populations.0.external.rate_hz=1e-9", "external.rate_hz: 1e-09; expected 0, or");
    assert_refused("network.populations.0.external.rate=1", "external.rate: unknown field; expected rate_hz");
    assert_refused("network.populations.0.external={\"rate_hz\": 1}", "external.weight: missing");
    assert_refused("network.populations.0.external=1", "external: 1; expected an object");
}

TEST(the_fixed_point_has_room_for_it) {
    struct description d;
    static const char *const weights[] = {"0.5", "1.2345678", "1e6"};
    for (size_t w = 0; w < 3; w++) {
        char override[80];
        snprintf(override, sizeof override, "network.populations.0.external.weight=%s", weights[w]);
        open_description(
            &d, eight_areas,
            (const char *const[]){"network.populations.0.external={\"rate_hz\": 5e5, \"weight\": 1}",
                                  override, NULL});
        const struct external *external = &d.network.populations[0].external;
        double sum = 12.0 * d.network.projections[0].weights.units[0] +
                     20.0 * d.network.projections[2].weights.units[0] +
                     (double)external->most * external->weight_units;
        assert_int_equal(d.network.narrow_input, w != 1);
        assert_true(sum > 0 && sum <= INT32_MAX);
        description_close(&d);
    }
    assert_non_null(
        strstr(refusal(eight_areas, (const char *const[]){"network.populations.0.external={\"rate_"
                                                          "hz\": 5e5, \"weight\": 1e9}",
                                                          NULL}),
               "network.projections.0.weight: 2; expected 0 or at least"));
}
