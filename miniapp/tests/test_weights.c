/// \file
/// Weights with a distribution: mean and standard deviation of the classes, how often each is drawn, and what
/// is refused.

#include "support.h"

#include "base/alloc.h"
#include "description/draw.h"
#include <stdlib.h>
#include <string.h>

static void open_weights(struct description *d, double mean, double sd, int classes) {
    char weight[160];
    snprintf(weight, sizeof weight,
             "network.projections.0.weight={\"mean\": %.17g, \"sd\": %.17g, \"classes\": %d}", mean, sd,
             classes);
    open_description(d, eight_areas, (const char *const[]){weight, NULL});
}

static void classes_have_the_mean_and_sd_asked_for(void **state) {
    (void)state;
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

static void slices_are_those_of_the_normal_distribution(void **state) {
    (void)state;
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

static void every_class_is_drawn_equally_often(void **state) {
    (void)state;
    struct description d;
    enum { classes = 7, n = 70000 };
    open_weights(&d, 2, 0.5, classes);
    double seen[classes] = {0}, by_half[classes][2] = {{0}}, chi2 = 0, joint = 0;
    const uint32_t middle = d.network.projections[0].pool / 2;
    for (uint32_t k = 0; k < n; k++) {
        struct synapse synapse = network_synapse(&d.network, 0, 3, k);
        assert_true(synapse.weight_class < classes);
        seen[synapse.weight_class]++;
        by_half[synapse.weight_class][synapse.source < middle]++;
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

static void without_spread_there_is_one_class(void **state) {
    (void)state;
    struct description d;
    open_weights(&d, 2, 0, 7);
    assert_int_equal(d.network.projections[0].weights.classes, 1);
    assert_true(d.network.narrow_input);
    description_close(&d);
}

static void assert_refused(const char *weight, const char *message) {
    char override[200];
    snprintf(override, sizeof override, "network.projections.0.weight=%s", weight);
    const char *found = refusal(eight_areas, (const char *const[]){override, NULL});
    if (!strstr(found, message)) fail_msg("%s: the message is '%s', expected '%s'", weight, found, message);
}

static void bad_distributions_are_refused(void **state) {
    (void)state;
    assert_refused("{\"sd\": 1}", "network.projections.0.weight.mean: missing");
    assert_refused("{\"mean\": 1, \"sd\": -1}", "weight.sd: -1; allowed: a number from 0");
    assert_refused("{\"mean\": 1, \"sd\": 0.2, \"classes\": 1}",
                   "weight.classes: 1; allowed: an integer from 2");
    assert_refused(
        "{\"mean\": 1, \"sd\": 2, \"classes\": 2}",
        "weight.sd: 2; allowed: at most 1 with a mean of 1 and 2 classes, so that no weight changes");
    assert_refused("{\"mean\": 0, \"sd\": 0.1}", "weight.sd: 0.1; allowed: at most 0 with");
    assert_refused("{\"mean\": 1, \"width\": 2}", "weight.width: unknown field; allowed: mean, sd, classes");
    assert_refused("{\"mean\": 1e-8, \"sd\": 1e-9}", "weight: 1e-08; allowed: 0 or at least");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_have_the_mean_and_sd_asked_for),
        cmocka_unit_test(slices_are_those_of_the_normal_distribution),
        cmocka_unit_test(every_class_is_drawn_equally_often),
        cmocka_unit_test(without_spread_there_is_one_class),
        cmocka_unit_test(bad_distributions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
