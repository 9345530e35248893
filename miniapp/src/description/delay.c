#include "description/delay.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The tolerance, in steps, for limits that lie on the grid or half-way but for the rounding of decimal
/// fractions.
static const double hair = 1e-9;

/// Returns the weight of a density between a and b, up to a factor.
typedef double between_fn(double a, double b, double place, double scale);

/// A normal density with mean `place` and standard deviation `scale`, accurate in both tails.
static double normal_between(double a, double b, double place, double scale) {
    a = (a - place) / scale, b = (b - place) / scale;
    if (a > 0) return 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2));
    return 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2));
}

/// An exponential density, which falls by a factor of e every `scale`. `place` only keeps the numbers from
/// vanishing.
static double exponential_between(double a, double b, double place, double scale) {
    return -exp((place - a) / scale) * expm1((a - b) / scale);
}

/// Opens the distribution of what lies in [low, high] of the density `between`, whose arguments are `place`
/// and `scale`. All are in steps.
static bool open(struct delay *delay, double low, double high, between_fn *between, double place,
                 double scale) {
    *delay = (struct delay){0};
    if (floor(low + 0.5 + hair) < 1 || floor(high + 0.5 + hair) > UINT32_MAX / 2) return false;
    delay->shortest = (uint32_t)floor(low + 0.5 + hair);
    delay->longest = (uint32_t)floor(high + 0.5 + hair);

    uint32_t n = delay->longest - delay->shortest + 1;
    double *probability = ALLOC(double, n);
    for (uint32_t i = 0; i < n; i++) {
        double a = fmax(low, delay->shortest + i - 0.5), b = fmin(high, delay->shortest + i + 0.5);
        probability[i] = scale == 0 ? 1 : b > a ? between(a, b, place, scale) : 0;
    }
    bool drawn = discrete_open(&delay->above, probability, n);
    free(probability);
    return drawn;
}

bool delay_open(struct delay *delay, double mean, double sd, double low, double high, double resolution_ms) {
    mean /= resolution_ms, sd /= resolution_ms, low /= resolution_ms, high /= resolution_ms;
    *delay = (struct delay){0};
    if (sd == 0 && (mean < low - hair || mean > high + hair)) return false;
    if (sd == 0) low = high = mean;
    return open(delay, low, high, normal_between, mean, sd);
}

bool delay_open_exponential(struct delay *delay, double mean, double low, double high, double resolution_ms) {
    mean /= resolution_ms, low /= resolution_ms, high /= resolution_ms;
    return open(delay, low, high, exponential_between, low, mean);
}

/// Checks that `low` and `high` are limits that a delay can have.
static bool check_limits(const char *path, double low, double high, double resolution_ms,
                         struct error *error) {
    if (low < resolution_ms * (1 - 1e-9))
        return error_set(error, "%smin: %.10g; allowed: at least the resolution, %.10g ms", path, low,
                         resolution_ms);
    if (high < low) return error_set(error, "%smax: %.10g; allowed: at least min, %.10g ms", path, high, low);
    if (high / resolution_ms > 1e6)
        return error_set(error, "%smax: %.10g; allowed: at most 1000000 steps of %.10g ms", path, high,
                         resolution_ms);
    return true;
}

bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error) {
    static const char *const names[] = {"distribution", "mean", "sd", "min", "max"};
    struct fields fields;
    const char *distribution;
    double mean, sd, low, high;
    if (!fields_enter(projection, "delay", true, &fields, error) ||
        !fields_only(&fields, names, sizeof names / sizeof *names, error) ||
        !fields_string(&fields, "distribution", "normal", &distribution, error))
        return false;
    const bool constant = strcmp(distribution, "constant") == 0;
    const bool exponential = strcmp(distribution, "exponential") == 0;
    if (!constant && !exponential && strcmp(distribution, "normal") != 0)
        return fields_refuse(&fields, "distribution", "normal, constant, exponential", error);

    if (!fields_number(&fields, "mean", NAN, 1e-6, 1e6, &mean, error) ||
        !fields_number(&fields, "sd", 0, 0, 1e6, &sd, error) ||
        !fields_number(&fields, "min", constant ? mean : fmin(resolution_ms, mean), 0, 1e6, &low, error) ||
        !fields_number(&fields, "max", exponential ? 5 * mean : mean + 4 * sd, 0, 1e6, &high, error))
        return false;
    if (constant && sd > 0) return fields_refuse(&fields, "sd", "0 for the constant distribution", error);
    if (exponential && sd > 0)
        return fields_refuse(&fields, "sd", "0 for the exponential distribution, whose mean says it", error);
    if (!check_limits(fields.path, low, high, resolution_ms, error)) return false;
    if (exponential ? delay_open_exponential(delay, mean, low, high, resolution_ms)
                    : delay_open(delay, mean, sd, low, high, resolution_ms))
        return true;
    return error_set(error, "%smean: %.10g; allowed: a distribution with some weight in [%.10g, %.10g] ms",
                     fields.path, mean, low, high);
}

void delay_close(struct delay *delay) {
    discrete_close(&delay->above);
}
