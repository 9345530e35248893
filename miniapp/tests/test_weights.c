/// \file
/// Weights with a distribution: mean and standard deviation of the classes and how often each is drawn, the
/// same for weights that each synapse has for itself, and what is refused.

#include "one_draw.h"
#include "support.h"

static void open_weights(struct description *d, double mean, double sd, int classes) {
    char weight[160];
    snprintf(weight, sizeof weight,
             "network.projections.0.weight={\"mean\": %.17g, \"sd\": %.17g, \"classes\": %d}", mean, sd,
             classes);
    open_description(d, eight_areas, (const char *const[]){weight, NULL});
}

TEST(classes_have_the_mean_and_sd_asked_for) {
    static const int counts[] = {2, 3, 8, 32, 255, 4096};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct description d;
            open_weights(&d, sign * 0.4, 0.1, counts[c]);
            const struct weights *weights = &d.network.projections[0].weights;
            double mean = 0, variance = 0;
            assert_int_equal(weights->classes, counts[c]);
            for (int k = 0; k < counts[c]; k++) mean += weights->weight[k] / counts[c];
            for (int k = 0; k < counts[c]; k++) variance += pow(weights->weight[k] - mean, 2) / counts[c];
            assert_true(fabs(mean - sign * 0.4) < 1e-12);
            assert_true(fabs(sqrt(variance) - 0.1) < 1e-12);
            for (int k = 0; k < counts[c]; k++) {
                double exact = weights->weight[k] / d.network.weight_unit;
                assert_true(weights->weight[k] * sign > 0);
                assert_true(k == 0 || weights->weight[k] > weights->weight[k - 1]);
                assert_true(fabs(weights->units[k] - exact) <= 0.5000001);
            }
            description_close(&d);
        }
}

TEST(slices_are_those_of_the_normal_distribution) {
    struct description d;
    open_weights(&d, 10, 1, 4);
    // Quartiles at -0.67449: density 0.31778 there and 0.39894 at 0; sd of the means of the slices 0.92815.
    const double *weight = d.network.projections[0].weights.weight;
    const double outer = 4 * 0.3177766, inner = 4 * (0.3989423 - 0.3177766);
    const double sd = sqrt((outer * outer + inner * inner) / 2);
    assert_true(fabs(weight[0] - (10 - outer / sd)) < 1e-6);
    assert_true(fabs(weight[1] - (10 - inner / sd)) < 1e-6);
    description_close(&d);
}

TEST(every_class_is_drawn_equally_often) {
    struct description d;
    enum { classes = 7, n = 70000 };
    open_weights(&d, 2, 0.5, classes);
    double seen[classes] = {0}, by_half[classes][2] = {{0}}, chi2 = 0, joint = 0;
    const uint32_t middle = d.network.projections[0].pool / 2;
    for (uint32_t k = 0; k < n; k++) {
        struct synapse synapse = network_synapse(&d.network, 0, 3, k);
        uint32_t drawn = weights_draw(&d.network.projections[0].weights, synapse.weight_word);
        assert_true(drawn < classes);
        seen[drawn]++;
        by_half[drawn][synapse.source < middle]++;
    }
    double low = 0;
    for (int c = 0; c < classes; c++) low += by_half[c][1];
    for (int c = 0; c < classes; c++) {
        chi2 += pow(seen[c] - n / classes, 2) / (n / classes);
        joint += pow(by_half[c][1] - low * seen[c] / n, 2) / (low * seen[c] / n * (1 - low / n));
    }
    assert_true(chi2 < classes - 1 + 4 * sqrt(2.0 * (classes - 1)));
    assert_true(joint < classes - 1 + 4 * sqrt(2.0 * (classes - 1))); // independent of the source
    description_close(&d);
}

TEST(without_spread_there_is_one_class) {
    struct description d;
    open_weights(&d, 2, 0, 7);
    assert_int_equal(d.network.projections[0].weights.classes, 1);
    assert_true(d.network.narrow_input);
    description_close(&d);
}

/// Returns P(a < Z < b) of the standard normal distribution.
static double normal_between(double a, double b) {
    return 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2));
}

TEST(quantiles_are_those_of_the_normal_distribution) {
    struct normal *normal = normal_open();
    // The tails are those at 0, 1, ... 6 sd, computed elsewhere; then those between the points of the table,
    // where it is worst.
    static const double tails[] = {0.5,
                                   0.15865525393145707,
                                   0.02275013194817921,
                                   0.0013498980316300946,
                                   3.167124183311992e-05,
                                   2.866515718791933e-07,
                                   9.865876450376946e-10};
    for (int sd = 0; sd <= 6; sd++)
        assert_true(fabs(normal_deviation(normal, fmin(tails[sd] * 0x1p32, 0x1p31 - 0.5)) - sd) < 1e-4);
    for (double tail = 0.5, last = 7; tail < 0x1p31; tail *= 1.003) {
        const double found = normal_deviation(normal, tail);
        assert_true(found < last && found < normal_furthest);
        assert_true(fabs(found + normal_quantile(tail * 0x1p-32)) < 1e-4);
        last = found;
    }
    free(normal);
}

/// Checks 2^20 weights drawn as synapses of projection 0 against the normal distribution within `limit` sd.
static void check_own_weights(double mean, double sd, double limit) {
    enum { n = 1 << 20, bins = 40 };
    struct description d;
    open_weights(&d, mean, sd, 0);
    const struct weights *weights = &d.network.projections[0].weights;
    const double inside = normal_between(-limit, limit);
    double sum = 0, squares = 0, by_source = 0, seen[bins] = {0}, chi2 = 0;
    uint64_t low = 0;
    assert_int_equal(weights->classes, 0);
    assert_false(d.network.narrow_input);
    for (uint32_t k = 0; k < n; k++) {
        struct synapse synapse = network_synapse(&d.network, 0, 3, k);
        int32_t units = weights_draw_units(weights, d.network.normal, synapse.weight_word);
        double deviation = (units * d.network.weight_unit - mean) / sd;
        assert_true(fabs(units * d.network.weight_unit) <= weights_largest(weights) + d.network.weight_unit);
        assert_true(units == 0 || (units > 0) == (mean > 0));
        assert_true(fabs(deviation) < limit + 1e-4);
        sum += deviation, squares += deviation * deviation;
        if (synapse.source % 2 == 0) by_source += deviation, low++;
        int bin = (int)((deviation + 4) / 8 * bins);
        seen[bin < 0 ? 0 : bin < bins ? bin : bins - 1]++;
    }
    // The mean is exact. The limit takes from the variance 2 limit density(limit) / inside.
    const double variance = 1 - 2 * limit * exp(-0.5 * limit * limit) / sqrt(2 * M_PI) / inside;
    assert_true(fabs(sum / n) < 4.5 / sqrt(n));
    assert_true(fabs(by_source / (double)low) < 4.5 / sqrt((double)low));
    assert_true(fabs(squares / n - variance) < 4.5 * sqrt(2.0 / n));
    for (int bin = 0; bin < bins; bin++) {
        double a = fmax(-limit, bin == 0 ? -limit : 8.0 * bin / bins - 4);
        double b = fmin(limit, bin == bins - 1 ? limit : 8.0 * (bin + 1) / bins - 4);
        double expected = a < b ? n * normal_between(a, b) / inside : 0;
        if (expected > 0) chi2 += pow(seen[bin] - expected, 2) / expected;
    }
    assert_true(chi2 < bins - 1 + 5 * sqrt(2.0 * (bins - 1)));
    description_close(&d);
}

TEST(weights_of_synapses_are_normal_within_their_limit) {
    check_own_weights(0.4, 0.1, 4); // as DPSNN: limited by the sign
    check_own_weights(-3, 1, 3);
    check_own_weights(87.8, 8.78, normal_furthest); // as the microcircuit: by the words
}

TEST(the_furthest_weights_stay_within_the_bound) {
    static const double sds[] = {1.0 / 3, 0.25, 0.1, 1e-6};
    static const uint32_t words[] = {0, 0x7fffffff, 0x80000000, 0xffffffff};
    for (size_t s = 0; s < sizeof sds / sizeof *sds; s++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct description d;
            open_weights(&d, sign * 1.0, sds[s], 0);
            const struct weights *weights = &d.network.projections[0].weights;
            double unit = d.network.weight_unit, furthest = fmin(1, normal_furthest * sds[s]);
            assert_true(fabs(weights_largest(weights) - 1 - furthest) < 1e-12);
            for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
                double weight = weights_draw_units(weights, d.network.normal, words[w]) * unit;
                assert_true(weight * sign >= 0 && fabs(weight - sign) <= furthest + unit);
                if (words[w] << 1)
                    assert_true(fabs(weight - sign) < 1e-8 + unit); // in the middle
                else
                    assert_true(fabs(weight - sign) > 0.99 * furthest - unit); // at the end
            }
            description_close(&d);
        }
}

TEST(without_classes_nothing_overflows) {
    struct description d;
    // Twelve synapses of at most 2000 units, and others of 1, would fit 16 bits as classes with a common
    // unit.
    open_description(&d, eight_areas,
                     (const char *const[]){
                         "network.projections.0.weight={\"mean\": 1000, \"sd\": 250, \"classes\": 0}", NULL});
    assert_false(d.network.narrow_input);
    double unit = d.network.weight_unit;
    assert_true((12 * 2000.0 + 20) / unit <= INT32_MAX / 2.0);
    assert_true((12 * 2000.0 + 20) / unit > INT32_MAX / 4.0 - 100);
    description_close(&d);
    // A projection without synapses has no say.
    open_description(&d, eight_areas,
                     (const char *const[]){
                         "network.projections.5.weight={\"mean\": 1000, \"sd\": 250, \"classes\": 0}", NULL});
    assert_true(d.network.narrow_input);
    assert_null(d.network.normal);
    description_close(&d);
}

static void assert_refused(const char *weight, const char *message) {
    char override[200];
    snprintf(override, sizeof override, "network.projections.0.weight=%s", weight);
    const char *found = refusal(eight_areas, (const char *const[]){override, NULL});
    if (!strstr(found, message)) fail_msg("%s: the message is '%s', expected '%s'", weight, found, message);
}

TEST(bad_distributions_are_refused) {
    assert_refused("{\"sd\": 1}", "network.projections.0.weight.mean: missing");
    assert_refused("{\"mean\": 1, \"sd\": -1}", "weight.sd: -1; expected a number from 0");
    assert_refused("{\"mean\": 1, \"sd\": 0.2, \"classes\": 1}",
                   "weight.classes: 1; expected 0, or an integer from 2 to 4096");
    assert_refused("{\"mean\": 1, \"sd\": 0.2, \"classes\": 4097}",
                   "weight.classes: 4097; expected an integer");
    assert_refused("{\"mean\": -3, \"sd\": 1.01, \"classes\": 0}",
                   "weight.sd: 1.01; expected at most 1, a third of the mean, since without classes");
    assert_refused("{\"mean\": 0, \"sd\": 1, \"classes\": 0}", "weight.sd: 1; expected at most 0, a third");
    assert_refused(
        "{\"mean\": 1, \"sd\": 2, \"classes\": 2}",
        "weight.sd: 2; expected at most 1 with a mean of 1 and 2 classes, so that no weight changes");
    assert_refused("{\"mean\": 0, \"sd\": 0.1}", "weight.sd: 0.1; expected at most 0 with");
    assert_refused("{\"mean\": 1, \"width\": 2}", "weight.width: unknown field; expected mean, sd, classes");
    assert_refused("{\"mean\": 1e-8, \"sd\": 1e-9}", "weight: 1e-08; expected 0 or at least");
}
