/// \file
/// The machine without the mini-app: its clock and the bandwidth of its memory, for `spikemark calibrate`.

#include "kernels.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { mebibyte = 1 << 20, adds_per_run = 1000000 };

static const int64_t one_size[] = {1, 0};
static const int64_t array_mebibytes[] = {64, 0};

static void *open_clock(const void *variant, int64_t size) {
    (void)variant, (void)size;
    return ALLOC_ZERO(uint64_t, 2);
}

/// Makes additions each of which needs the one before: one per cycle on every processor in use.
static uint64_t run_clock(void *state) {
    uint64_t *sum = state, x = sum[0], step = sum[1];
    for (int i = 0; i < adds_per_run / 10; i++)
        for (int k = 0; k < 10; k++) {
            x += step;
            __asm__ volatile("" : "+r"(x), "+r"(step)); // keeps it from being merged or left out
        }
    sum[0] = x;
    return adds_per_run;
}

struct arrays {
    double *a, *b, *c;
    size_t n;
};

static void *open_triad(const void *variant, int64_t size) {
    (void)variant;
    struct arrays *s = ALLOC(struct arrays, 1);
    s->n = (size_t)size * mebibyte / sizeof(double);
    s->a = ALLOC_ZERO(double, s->n);
    s->b = ALLOC_ZERO(double, s->n);
    s->c = ALLOC_ZERO(double, s->n);
    for (size_t i = 0; i < s->n; i++) s->b[i] = s->c[i] = 1; // pages of their own
    return s;
}

static void close_triad(void *state) {
    struct arrays *s = state;
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

/// Computes a = b + 3 c. Bytes are counted as STREAM counts them: two read and one written, whatever else the
/// cache fetches.
static uint64_t run_triad(void *state) {
    struct arrays *s = state;
    double *restrict a = s->a;
    const double *restrict b = s->b, *restrict c = s->c;
    for (size_t i = 0; i < s->n; i++) a[i] = b[i] + 3 * c[i];
    return 3 * sizeof(double) * (uint64_t)s->n;
}

size_t kernels_machine(struct kernel *kernels, size_t capacity) {
    static const struct kernel mine[] = {
        {"clock", "cycle", one_size, NULL, open_clock, run_clock, free, NULL},
        {"triad", "byte", array_mebibytes, NULL, open_triad, run_triad, close_triad, NULL},
    };
    size_t n = sizeof mine / sizeof *mine < capacity ? sizeof mine / sizeof *mine : capacity;
    memcpy(kernels, mine, n * sizeof *mine);
    return n;
}
