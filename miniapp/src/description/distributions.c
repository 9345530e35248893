#include "description/distributions.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Opens the distribution that is proportional to probability[n]. Fails, with nothing to close, if all of
/// them are 0.
static bool discrete_open(struct discrete *discrete, const double *probability, uint32_t n) {
    double total = 0, sum = 0;
    *discrete = (struct discrete){0};
    for (uint32_t i = 0; i < n; i++) total += probability[i];
    if (!(total > 0)) return false;

    discrete->upper = ALLOC(uint32_t, n);
    uint32_t last = n - 1;
    while (probability[last] <= 0) last--;
    for (uint32_t i = 0; i < n; i++) {
        sum += probability[i];
        double edge = floor(sum / total * 4294967296.0) - 1;
        discrete->upper[i] = i >= last ? UINT32_MAX : edge < 0 ? 0 : (uint32_t)fmin(edge, 4294967295.0);
    }
    for (uint32_t top = 0, i = 0; top < discrete_guide_size; top++) {
        while (discrete->upper[i] < top << 24) i++;
        discrete->guide[top] = i;
    }
    return true;
}

struct poisson poisson_open(double mean) {
    enum { k_max = 400 }; // beyond it nothing is left, even with the largest mean
    struct poisson poisson = {0, 0, {0}};
    double probability[k_max], tail = 0; // P(N = k), and P(N >= k), summed from the smallest terms
    probability[0] = exp(-mean);
    for (int k = 1; k < k_max; k++) probability[k] = probability[k - 1] * mean / k;

    double at_least[k_max];
    for (int k = k_max - 1; k > 0; k--) at_least[k] = nearbyint(4294967296.0 * (tail += probability[k]));
    for (int k = 1; k < k_max && at_least[k] > 0; k++) {
        if (at_least[k] >= 4294967296.0)
            poisson.always++;
        else
            poisson.at_least[poisson.n++] = (uint32_t)at_least[k];
    }
    return poisson;
}

double normal_quantile(double p) {
    double low = -40, high = 0;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(0.5 * erfc(-middle * M_SQRT1_2) < p ? &low : &high) = middle;
    }
    return high;
}

/// Returns the tail at which a piece begins.
static double edge(int piece) {
    return ldexp(1 + (double)(piece % normal_parts) / normal_parts, piece / normal_parts - 1);
}

struct normal *normal_open(void) {
    struct normal *normal = ALLOC(struct normal, 1);
    double begin = edge(0), deviation = -normal_quantile(ldexp(begin, -32));
    for (int i = 0; i < normal_pieces; i++) {
        const double end = edge(i + 1), next = -normal_quantile(ldexp(end, -32));
        const double slope = (next - deviation) / (end - begin);
        normal->piece[i] = (struct normal_piece){deviation - slope * begin, slope};
        begin = end, deviation = next;
    }
    return normal;
}

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
    mean /= resolution_ms, sd /= resolution_ms, low /= resolution_ms, high /= resolution_ms;
    *delay = (struct delay){0};
    const bool constant = !exponential && sd == 0;
    if (constant && (mean < low - hair || mean > high + hair)) return false;
    if (constant) low = high = mean;
    if (floor(low + 0.5 + hair) < 1 || floor(high + 0.5 + hair) > UINT32_MAX / 2) return false;
    delay->shortest = (uint32_t)floor(low + 0.5 + hair);
    delay->longest = (uint32_t)floor(high + 0.5 + hair);

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

bool delay_read(struct delay *delay, const struct fields *projection, double resolution_ms,
                struct error *error) {
    struct given {
        const char *distribution;
        double mean, sd;
    } given;
    static const struct field table[] = {TEXT("distribution", offsetof(struct given, distribution), "normal"),
                                         NUMBER("mean", offsetof(struct given, mean), REQUIRED, 1e-6, 1e6),
                                         NUMBER("sd", offsetof(struct given, sd), 0, 0, 1e6), KNOWN("min"),
                                         KNOWN("max")};
    struct fields fields;
    double low, high;
    if (!fields_enter(projection, "delay", true, &fields, error) ||
        !FIELDS_READ(&fields, table, &given, error))
        return false;
    const double mean = given.mean, sd = given.sd;
    const bool constant = strcmp(given.distribution, "constant") == 0;
    const bool exponential = strcmp(given.distribution, "exponential") == 0;
    if (!constant && !exponential && strcmp(given.distribution, "normal") != 0)
        return fields_refuse(&fields, "distribution", "normal, constant, exponential", error);
    if (!fields_number(&fields, "min", constant ? mean : fmin(resolution_ms, mean), 0, 1e6, &low, error) ||
        !fields_number(&fields, "max", exponential ? 5 * mean : mean + 4 * sd, 0, 1e6, &high, error))
        return false;
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

/// Below the smallest mean, rounding to 2^-32 would be felt; above the largest, nobody has needed more.
static const double mean_min = 1e-4;
#define mean_max 1e6

/// Numbers that are less likely than the likeliest one by this factor are not drawn: no word reaches them.
static const double negligible = 1e-11;

/// Computes the Poisson distribution by its recurrence, from the likeliest number in both directions.
static void open_poisson(struct indegree *indegree) {
    const double mean = indegree->mean;
    const uint32_t likeliest = (uint32_t)mean;
    double relative = 1;
    indegree->least = indegree->most = likeliest;
    while (indegree->least > 0 && relative > negligible) relative *= indegree->least-- / mean;
    relative = 1;
    while (relative > negligible) relative *= mean / ++indegree->most;

    const uint32_t n = indegree->most - indegree->least + 1;
    double *probability = ALLOC(double, n);
    probability[likeliest - indegree->least] = 1;
    for (uint32_t k = likeliest; k > indegree->least; k--)
        probability[k - 1 - indegree->least] = probability[k - indegree->least] * k / mean;
    for (uint32_t k = likeliest; k < indegree->most; k++)
        probability[k + 1 - indegree->least] = probability[k - indegree->least] * mean / (k + 1);
    indegree->above = ALLOC(struct discrete, 1);
    discrete_open(indegree->above, probability, n);
    free(probability);
}

bool indegree_read(struct indegree *indegree, const struct fields *projection, struct error *error) {
    struct given {
        double mean;
        const char *distribution;
    } given;
    static const struct field table[] = {
        NUMBER("mean", offsetof(struct given, mean), REQUIRED, 0, mean_max),
        TEXT("distribution", offsetof(struct given, distribution), "poisson")};
    struct fields fields;
    *indegree = (struct indegree){0};
    if (!json_is_object(json_object_get(projection->object, "indegree"))) {
        if (!fields_integer(projection, "indegree", NAN, 0, 4e9, &indegree->mean, error)) return false;
        indegree->least = indegree->most = (uint32_t)indegree->mean;
        return true;
    }
    if (!fields_enter(projection, "indegree", true, &fields, error) ||
        !FIELDS_READ(&fields, table, &given, error))
        return false;
    indegree->mean = given.mean;
    if (strcmp(given.distribution, "poisson") != 0)
        return fields_refuse(&fields, "distribution", "poisson", error);
    if (indegree->mean > 0 && indegree->mean < mean_min)
        return error_set(error, "%smean: %.10g; expected 0, or a number from %g to %g", fields.path,
                         indegree->mean, mean_min, mean_max);
    if (indegree->mean > 0) open_poisson(indegree);
    return true;
}

void indegree_close(struct indegree *indegree) {
    if (indegree->above) free(indegree->above->upper);
    free(indegree->above);
}

/// Computes the means of the slices of the standard normal distribution, scaled to variance 1. They are
/// symmetric.
static void slice(double *mean, uint32_t classes) {
    double below = 0, squares = 0; // density at the lower edge of the slice
    for (uint32_t k = 0; k < classes / 2; k++) {
        double edge = normal_quantile((k + 1.0) / classes);
        double density = exp(-0.5 * edge * edge) / sqrt(2 * M_PI);
        mean[k] = classes * (below - density);
        squares += 2 * mean[k] * mean[k] / classes;
        below = density;
    }
    for (uint32_t k = 0; k < classes / 2; k++) {
        mean[k] /= sqrt(squares);
        mean[classes - 1 - k] = -mean[k];
    }
    if (classes % 2 == 1) mean[classes / 2] = 0;
}

static bool spread_classes(struct weights *weights, const struct fields *fields, struct error *error) {
    weights->weight = ALLOC_ZERO(double, weights->classes);
    if (weights->classes > 1) slice(weights->weight, weights->classes);
    const double furthest = -weights->weight[0];
    weights->furthest = weights->sd * furthest;
    if (weights->furthest > fabs(weights->mean))
        return error_set(
            error,
            "%ssd: %.10g; expected at most %.10g with a mean of %.10g and %u classes, so that no "
            "weight changes its sign",
            fields->path, weights->sd, fabs(weights->mean) / furthest, weights->mean, weights->classes);
    for (uint32_t k = 0; k < weights->classes; k++)
        weights->weight[k] = weights->mean + weights->sd * weights->weight[k];
    return true;
}

/// Limits the distribution so that no weight changes its sign, but not by so much that its sd would be
/// another.
static bool limit(struct weights *weights, const struct fields *fields, struct error *error) {
    const double most = fabs(weights->mean) / 3;
    if (weights->sd > most)
        return error_set(error,
                         "%ssd: %.10g; expected at most %.10g, a third of the mean, since without classes "
                         "weights are redrawn that change their sign",
                         fields->path, weights->sd, most);
    weights->furthest = fmin(fabs(weights->mean), normal_furthest * weights->sd);
    if (weights->furthest < normal_furthest * weights->sd)
        weights->tail = ldexp(erfc(weights->furthest / weights->sd * M_SQRT1_2), 31);
    return true;
}

static bool read_distribution(struct weights *weights, const struct fields *projection, struct error *error) {
    struct given {
        double mean, sd, classes;
    } given;
    static const struct field table[] = {
        NUMBER("mean", offsetof(struct given, mean), REQUIRED, -1e12, 1e12),
        NUMBER("sd", offsetof(struct given, sd), 0, 0, 1e12),
        INTEGER("classes", offsetof(struct given, classes), weight_classes_default, 0, weight_classes_max)};
    struct fields fields;
    if (!fields_enter(projection, "weight", true, &fields, error) ||
        !FIELDS_READ(&fields, table, &given, error))
        return false;
    weights->mean = given.mean;
    weights->sd = given.sd;
    if (given.classes == 1)
        return error_set(error, "%sclasses: 1; expected 0, or an integer from 2 to %d", fields.path,
                         weight_classes_max);
    weights->classes = weights->sd > 0 ? (uint32_t)given.classes : 1;
    return weights->classes > 0 ? spread_classes(weights, &fields, error) : limit(weights, &fields, error);
}

bool weights_read(struct weights *weights, const struct fields *projection, struct error *error) {
    *weights = (struct weights){.classes = 1};
    if (json_is_object(json_object_get(projection->object, "weight"))) {
        if (!read_distribution(weights, projection, error)) return false;
    } else {
        if (!fields_number(projection, "weight", 1, -1e12, 1e12, &weights->mean, error)) return false;
        weights->weight = ALLOC(double, 1);
        weights->weight[0] = weights->mean;
    }
    weights->units = ALLOC_ZERO(int32_t, weights->classes);
    if (weights->mean != 0 && fabs(weights->mean) < 1e-100)
        return fields_refuse(projection, "weight", "0, or a number from 1e-100 to 1e12 in magnitude", error);
    return true;
}

void weights_set_unit(struct weights *weights, double unit) {
    weights->unit = unit;
    for (uint32_t k = 0; k < weights->classes; k++)
        weights->units[k] = (int32_t)nearbyint(weights->weight[k] / unit);
}

void weights_close(struct weights *weights) {
    FREE(weights->weight, weights->units);
}
