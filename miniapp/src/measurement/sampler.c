#include "measurement/sampler.h"

#include "base/alloc.h"
#include "measurement/beat.h"
#include "measurement/clock.h"
#include <stdlib.h>
#include <string.h>

static void grow(struct samples *samples) {
    const size_t capacity = samples->capacity ? 2 * samples->capacity : 1024, row = (size_t)samples->channels;
    double *time_s = ALLOC(double, capacity), *value = ALLOC(double, capacity *row);
    if (samples->count > 0) {
        memcpy(time_s, samples->time_s, samples->count * sizeof *time_s);
        memcpy(value, samples->value, samples->count * row * sizeof *value);
    }
    free(samples->time_s);
    free(samples->value);
    samples->time_s = time_s;
    samples->value = value;
    samples->capacity = capacity;
}

static void take(void *context) {
    struct sampler *sampler = context;
    struct samples *samples = &sampler->samples;
    if (samples->count == samples->capacity) grow(samples);
    const double before = clock_now();
    meter_read(sampler->meter, samples->value + samples->count * (size_t)samples->channels);
    samples->time_s[samples->count++] = (before + clock_now()) / 2;
}

struct sampler *sampler_start(struct meter_handle *meter, double interval_s) {
    struct sampler *sampler = ALLOC_ZERO(struct sampler, 1);
    *sampler = (struct sampler){.meter = meter, .samples.channels = meter->n_channels};
    take(sampler);
    sampler->beat = beat_start(take, sampler, interval_s, "meter-reader");
    if (sampler->beat) return sampler;
    samples_close(&sampler->samples);
    free(sampler);
    return NULL;
}

void sampler_stop(struct sampler *sampler, struct samples *samples) {
    const double cost = beat_stop(sampler->beat);
    take(sampler);
    *samples = sampler->samples;
    samples->cost = cost;
    free(sampler);
}

void samples_close(struct samples *samples) {
    free(samples->time_s);
    free(samples->value);
    *samples = (struct samples){0};
}
