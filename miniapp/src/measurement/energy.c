#include "measurement/energy.h"

#include <math.h>

/// Returns how much of [a, b] lies within the span, in seconds.
static double overlap(struct interval span, double a, double b) {
    return fmax(0, fmin(span.to_s, b) - fmax(span.from_s, a));
}

double energy_between(const struct samples *samples, int channel, bool power, struct interval span) {
    double sum = 0, last_s = NAN, last = NAN, first_s = NAN;
    for (size_t i = 0; i < samples->count; i++) {
        const double value = samples->value[i * (size_t)samples->channels + (size_t)channel];
        const double time_s = samples->time_s[i];
        if (isnan(value)) continue;
        if (isnan(first_s)) first_s = time_s;
        const double share_s = isnan(last) ? 0 : overlap(span, last_s, time_s);
        if (share_s > 0) {
            const double slope = (value - last) / (time_s - last_s);
            const double middle_s = fmax(span.from_s, last_s) + share_s / 2;
            sum += share_s * (power ? last + slope * (middle_s - last_s) : slope);
        }
        last_s = time_s;
        last = value;
    }
    return first_s <= span.from_s && last_s >= span.to_s ? sum : NAN;
}

static bool complete(const struct samples *samples, size_t i) {
    for (int c = 0; c < samples->channels; c++)
        if (isnan(samples->value[i * (size_t)samples->channels + (size_t)c])) return false;
    return true;
}

size_t energy_readings(const struct samples *samples, struct interval span) {
    size_t n = 0;
    for (size_t i = 0; i < samples->count; i++)
        n += samples->time_s[i] >= span.from_s && samples->time_s[i] <= span.to_s && complete(samples, i);
    return n;
}

double energy_coverage(const struct samples *samples, struct interval span, double gap_s) {
    double covered_s = 0, last_s = NAN;
    for (size_t i = 0; i < samples->count; i++) {
        if (!complete(samples, i)) continue;
        if (samples->time_s[i] - last_s <= gap_s) covered_s += overlap(span, last_s, samples->time_s[i]);
        last_s = samples->time_s[i];
    }
    return span.to_s > span.from_s ? fmin(1, covered_s / (span.to_s - span.from_s)) : 0;
}
