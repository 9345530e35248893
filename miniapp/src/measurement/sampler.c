#include "measurement/sampler.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <sched.h>
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

static void take(struct sampler *sampler) {
    struct samples *samples = &sampler->samples;
    if (samples->count == samples->capacity) grow(samples);
    const double before = clock_epoch();
    meter_read(sampler->meter, samples->value + samples->count * (size_t)samples->channels);
    samples->time_s[samples->count++] = (before + clock_epoch()) / 2;
}

static void advance(struct timespec *time, double seconds) {
    const double end = 1e-9 * (double)time->tv_nsec + seconds;
    time->tv_sec += (time_t)end;
    time->tv_nsec = (long)(1e9 * (end - (double)(time_t)end));
}

/// Sleeps until `*until` and sets that one interval on. This is the only place where the thread can be ended.
static void sleep_until(struct timespec *until, double interval_s) {
    int state;
    struct timespec now;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, until, NULL)) {
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double late = (double)(now.tv_sec - until->tv_sec) + 1e-9 * (double)(now.tv_nsec - until->tv_nsec);
    if (late > interval_s) *until = now; // readings that were missed are not made up for
    advance(until, interval_s);
}

static void *run(void *context) {
    struct sampler *sampler = context;
    struct timespec until;
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    clock_gettime(CLOCK_MONOTONIC, &until);
    advance(&until, sampler->interval_s);
    for (;;) {
        sleep_until(&until, sampler->interval_s);
        take(sampler);
    }
    return NULL;
}

/// Lets the thread run wherever the system allows, also where the starting thread is bound.
static void unbind(pthread_attr_t *attributes) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);
    pthread_attr_setaffinity_np(attributes, sizeof all, &all);
}

struct sampler *sampler_start(struct meter_handle *meter, double interval_s) {
    struct sampler *sampler = ALLOC_ZERO(struct sampler, 1);
    *sampler = (struct sampler){.meter = meter,
                                .interval_s = interval_s,
                                .started_s = clock_epoch(),
                                .samples.channels = meter->n_channels};
    take(sampler);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    unbind(&attributes);
    const bool started = pthread_create(&sampler->thread, &attributes, run, sampler) == 0 ||
                         pthread_create(&sampler->thread, NULL, run, sampler) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_setname_np(sampler->thread, "meter-reader");
        return sampler;
    }
    samples_close(&sampler->samples);
    free(sampler);
    return NULL;
}

void sampler_stop(struct sampler *sampler, struct samples *samples) {
    clockid_t clock;
    struct timespec used = {0, 0};
    if (pthread_getcpuclockid(sampler->thread, &clock) == 0) clock_gettime(clock, &used);
    pthread_cancel(sampler->thread);
    pthread_join(sampler->thread, NULL);
    const double span_s = clock_epoch() - sampler->started_s;
    take(sampler);
    *samples = sampler->samples;
    samples->cost = ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec) / span_s;
    free(sampler);
}

void samples_close(struct samples *samples) {
    free(samples->time_s);
    free(samples->value);
    *samples = (struct samples){0};
}
