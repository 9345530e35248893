#include "noise_loops.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include "measurement/usage.h"
#include <math.h>
#include <stdlib.h>

/// Readings of both clocks at one moment.
struct moment {
    double time_s;
    uint64_t ticks;
};

/// Reads both clocks, again until hardly anything came in between.
static struct moment moment_now(bool counts) {
    enum { tries = 20 };
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < tries; i++) {
        const uint64_t before = clock_ticks(counts);
        const double time_s = clock_now();
        const uint64_t taken = clock_ticks(counts) - before;
        if (taken >= least) continue;
        least = taken;
        best = (struct moment){time_s, before + taken / 2};
    }
    return best;
}

double noise_tick_s(void) {
    const double apart_s = 0.02;
    const bool counts = clock_counts();
    const struct moment first = moment_now(counts);
    while (clock_now() < first.time_s + apart_s) {
    }
    const struct moment last = moment_now(counts);
    return (last.time_s - first.time_s) / (double)(last.ticks - first.ticks);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Returns the usual gap between two readings of the clock, the median, in ticks. The shortest one would not
/// do: a processor may overtake itself, and then two readings are a tick apart.
static double usual_gap(bool counts) {
    enum { readings = 20000 };
    double *gap = ALLOC(double, readings);
    uint64_t last = clock_ticks(counts);
    for (int i = 0; i < readings; i++) {
        const uint64_t now = clock_ticks(counts);
        gap[i] = (double)(now - last);
        last = now;
    }
    qsort(gap, readings, sizeof *gap, ascending);
    const double median = gap[readings / 2];
    free(gap);
    return fmax(1, median);
}

void noise_detours(struct detours *found, double end_s, double times, double tick_s, size_t most) {
    const bool counts = clock_counts();
    const double usual = usual_gap(counts);
    const uint64_t limit = (uint64_t)(times * usual);
    *found = (struct detours){.detour = ALLOC_ZERO(struct detour, most),
                              .most = most,
                              .usual_s = tick_s * usual,
                              .threshold_s = tick_s * (double)limit};
    struct usage_thread before = usage_thread_now();
    const struct moment begin = moment_now(counts);
    const uint64_t start = begin.ticks, end = start + (uint64_t)(fmax(0, end_s - begin.time_s) / tick_s);
    uint64_t last = clock_ticks(counts), aside = last - start;
    do { // once at least, however late the core was given
        const uint64_t now = clock_ticks(counts), gap = now - last;
        if (gap <= limit) {
            last = now;
            continue;
        }
        const struct usage_thread after = usage_thread_now();
        const bool switched = after.involuntary > before.involuntary;
        const double length_s = tick_s * (double)gap;
        before = after;
        found->count++;
        found->lost_s += length_s;
        found->largest_s = fmax(found->largest_s, length_s);
        found->switched += switched;
        if (switched) found->switched_s += length_s;
        if (found->kept < most)
            found->detour[found->kept++] =
                (struct detour){begin.time_s + tick_s * (double)(last - start), length_s, switched};
        last = clock_ticks(counts);
        aside += last - now;
    } while (last < end);
    found->seconds = tick_s * (double)(last - start - aside);
}

/// Works on registers only. \return what must not be optimised away.
static uint64_t work_on(uint64_t work, uint64_t state) {
    for (uint64_t i = 0; i < work; i++) state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

uint64_t noise_work(double seconds, double tick_s) {
    enum { probe = 20000, tries = 50 };
    const bool counts = clock_counts();
    volatile uint64_t sink = 1;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < tries; i++) {
        const uint64_t start = clock_ticks(counts);
        sink = work_on(probe, sink);
        const uint64_t taken = clock_ticks(counts) - start;
        if (taken < least) least = taken;
    }
    return (uint64_t)fmax(1, seconds / (tick_s * (double)least) * probe);
}

void noise_quanta(struct quanta *found, double end_s, uint64_t work, double tick_s, size_t most) {
    const bool counts = clock_counts();
    volatile uint64_t sink = 1;
    *found = (struct quanta){.length_s = ALLOC_ZERO(double, most), .most = most};
    const double start_s = clock_now();
    const uint64_t start = clock_ticks(counts), end = start + (uint64_t)(fmax(0, end_s - start_s) / tick_s);
    uint64_t last = start;
    do {
        sink = work_on(work, sink);
        const uint64_t now = clock_ticks(counts);
        found->length_s[found->count++] = tick_s * (double)(now - last);
        last = now;
    } while (last < end && found->count < most);
    found->seconds = tick_s * (double)(last - start);
    qsort(found->length_s, found->count, sizeof *found->length_s, ascending);
}
