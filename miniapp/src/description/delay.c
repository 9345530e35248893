/// \file
/// Integrates the density of delays over the grid, and reads the field of a projection.
///
/// A delay of n steps gets the probability with which a number from the density, limited to [min, max],
/// rounds to n. So the limits hold exactly and nothing is redrawn. The shortest delay that can occur is known
/// beforehand, which is what schedules need (schedule/schedule.c).

#include "description/delay.h"

#include "base/alloc.h"
#include "description/field_table.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/// The tolerance, in steps, for limits that lie on the grid or half-way but for the rounding of decimal
/// fractions.
static const double hair = 1e-9;

/// Returns the weight of a normal density with mean `place` and standard deviation `scale` between a and b,
/// up to a factor, accurate in both tails.
static double normal_between(double a, double b, double place, double scale) {
    a = (a - place) / scale, b = (b - place) / scale;
    if (a > 0) return 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2));
    return 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2));
}

/// The same of an exponential density, which falls by a factor of e every `scale`. `place` only keeps the
/// numbers from vanishing.
static double exponential_between(double a, double b, double place, double scale) {
    return -exp((place - a) / scale) * expm1((a - b) / scale);
}

bool delay_open(struct delay *delay, bool exponential, double mean, double sd, double low, double high,
                double resolution_ms) {
    // From here on in steps.
    mean /= resolution_ms, sd /= resolution_ms, low /= resolution_ms, high /= resolution_ms;
    *delay = (struct delay){0};
    // A normal distribution without spread is one delay.
    const bool constant = !exponential && sd == 0;
    if (constant && (mean < low - hair || mean > high + hair)) return false;
    if (constant) low = high = mean;
    if (floor(low + 0.5 + hair) < 1 || floor(high + 0.5 + hair) > UINT32_MAX / 2) return false;
    delay->shortest = (uint32_t)floor(low + 0.5 + hair);
    delay->longest = (uint32_t)floor(high + 0.5 + hair);

    // The probability of each step is the integral over what rounds to it.
    uint32_t n = delay->longest - delay->shortest + 1;
    double *probability = ALLOC(double, n);
    for (uint32_t i = 0; i < n; i++) {
        double a = fmax(low, delay->shortest + i - 0.5), b = fmin(high, delay->shortest + i + 0.5);
        probability[i] = constant      ? 1
                         : b <= a      ? 0
                         : exponential ? exponential_between(a, b, low, mean)
                                       : normal_between(a, b, mean, sd);
    }
    bool drawn = discrete_open(&delay->above, probability, n);
    free(probability);
    return drawn;
}

struct given_delay {
    const char *distribution;
    double mean, sd;
};

static const struct field of_delay[] = {
    WORD("distribution", offsetof(struct given_delay, distribution), "normal",
         "normal, exponential, constant"),
    NUMBER("mean", offsetof(struct given_delay, mean), REQUIRED, 1e-6, 1e6),
    NUMBER("sd", offsetof(struct given_delay, sd), 0, 0, 1e6), NUMBER("min", FIELD_APART, ABSENT, 0, 1e6),
    NUMBER("max", FIELD_APART, ABSENT, 0, 1e6)};
const struct field_table table_of_delay = FIELD_TABLE("network.projections.*.delay.", of_delay);

bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error) {
    struct given_delay given;
    struct fields fields;
    if (!fields_enter(projection, "delay", true, &fields, error) ||
        !fields_read(&fields, &table_of_delay, &given, error))
        return false;
    const double mean = given.mean, sd = given.sd;
    const bool constant = strcmp(given.distribution, "constant") == 0;
    const bool exponential = strcmp(given.distribution, "exponential") == 0;
    const double low = fields_fill(&fields, "min", constant ? mean : fmin(resolution_ms, mean));
    const double high = fields_fill(&fields, "max", exponential ? 5 * mean : mean + 4 * sd);
    if ((constant || exponential) && sd > 0)
        return fields_refuse(&fields, "sd", "0 unless the distribution is normal", error);
    if (low < resolution_ms * (1 - 1e-9))
        return error_set(error, "%smin: %.10g; expected at least the resolution, %.10g ms", fields.path, low,
                         resolution_ms);
    if (high < low)
        return error_set(error, "%smax: %.10g; expected at least min, %.10g ms", fields.path, high, low);
    if (high / resolution_ms > 1e6)
        return error_set(error, "%smax: %.10g; expected at most 1000000 steps of %.10g ms", fields.path, high,
                         resolution_ms);
    return delay_open(delay, exponential, mean, sd, low, high, resolution_ms) ||
           error_set(error, "%smean: %.10g; expected a distribution with some weight in [%.10g, %.10g] ms",
                     fields.path, mean, low, high);
}

void delay_close(struct delay *delay) {
    free(delay->above.upper);
    *delay = (struct delay){0};
}
