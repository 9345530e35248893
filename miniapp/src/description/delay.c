#include "description/delay.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

/// Tolerance in steps when a limit lies on the grid or half-way, as decimal fractions do but for rounding.
static const double hair = 1e-9;

/// Probability that a standard normal number lies in [a, b], accurate in both tails.
static double normal_between(double a, double b) {
    if (a > 0) return 0.5 * (erfc(a * M_SQRT1_2) - erfc(b * M_SQRT1_2));
    return 0.5 * (erfc(-b * M_SQRT1_2) - erfc(-a * M_SQRT1_2));
}

bool delay_open(struct delay *delay, double mean, double sd, double low, double high, double resolution_ms) {
    mean /= resolution_ms, sd /= resolution_ms, low /= resolution_ms, high /= resolution_ms;
    *delay = (struct delay){0};
    if (sd == 0 && (mean < low - hair || mean > high + hair)) return false;
    if (sd == 0) low = high = mean;
    if (floor(low + 0.5 + hair) < 1 || floor(high + 0.5 + hair) > UINT32_MAX / 2) return false;
    delay->shortest = (uint32_t)floor(low + 0.5 + hair);
    delay->longest = (uint32_t)floor(high + 0.5 + hair);

    uint32_t n = delay->longest - delay->shortest + 1;
    double *probability = ALLOC(double, n);
    for (uint32_t i = 0; i < n; i++) {
        double a = fmax(low, delay->shortest + i - 0.5), b = fmin(high, delay->shortest + i + 0.5);
        probability[i] = sd == 0 ? 1 : b > a ? normal_between((a - mean) / sd, (b - mean) / sd) : 0;
    }
    bool drawn = discrete_open(&delay->above, probability, n);
    free(probability);
    return drawn;
}

void delay_close(struct delay *delay) {
    discrete_close(&delay->above);
}
