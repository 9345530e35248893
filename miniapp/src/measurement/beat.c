#include "measurement/beat.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct beat {
    void (*work)(void *context);
    void *context;
    double interval_s, started_s;
    pthread_t thread;
};

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
    if (late > interval_s) *until = now; // calls that were missed are not made up for
    advance(until, interval_s);
}

static void *run(void *context) {
    const struct beat *beat = context;
    struct timespec until;
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    clock_gettime(CLOCK_MONOTONIC, &until);
    advance(&until, beat->interval_s);
    for (;;) {
        sleep_until(&until, beat->interval_s);
        beat->work(beat->context);
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

struct beat *beat_start(void (*work)(void *context), void *context, double interval_s, const char *name) {
    struct beat *beat = ALLOC_ZERO(struct beat, 1);
    *beat = (struct beat){.work = work, .context = context, .interval_s = interval_s};
    beat->started_s = clock_now();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    unbind(&attributes);
    const bool started = pthread_create(&beat->thread, &attributes, run, beat) == 0 ||
                         pthread_create(&beat->thread, NULL, run, beat) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_setname_np(beat->thread, name);
        return beat;
    }
    free(beat);
    return NULL;
}

double beat_stop(struct beat *beat) {
    clockid_t clock;
    struct timespec used = {0, 0};
    if (pthread_getcpuclockid(beat->thread, &clock) == 0) clock_gettime(clock, &used);
    pthread_cancel(beat->thread);
    pthread_join(beat->thread, NULL);
    const double span_s = clock_now() - beat->started_s;
    free(beat);
    return ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec) / span_s;
}
