/// \file
/// Chooses the stretches of cycles over which spikes are counted, and holds the counts of each thread
/// apart.

#include "run/activity.h"

#include "base/alloc.h"
#include <stdlib.h>

void activity_open(struct activity *activity, uint32_t populations, int threads, uint32_t cycles, bool keep) {
    // One row for each cycle where that is little; else a row for as many cycles as it takes.
    const uint64_t counts = (uint64_t)populations * (uint64_t)threads * cycles;
    *activity = (struct activity){.populations = populations, .threads = (uint32_t)threads, .cycles = 1};
    if (keep && cycles > 0) {
        activity->cycles = (uint32_t)((counts + activity_counts - 1) / activity_counts);
        if (activity->cycles > cycles) activity->cycles = cycles;
        activity->stretches = (cycles + activity->cycles - 1) / activity->cycles;
    }
    activity->counts = ALLOC_ZERO(uint32_t *, (size_t)threads);
    // A row more than stretches: it takes what is not kept, so that the loop needs no branch.
    const size_t rows = (size_t)activity->stretches + 1;
    for (int t = 0; t < threads; t++) activity->counts[t] = ALLOC_ZERO(uint32_t, rows * populations);
}

void activity_close(struct activity *activity) {
    for (uint32_t t = 0; activity->counts && t < activity->threads; t++) free(activity->counts[t]);
    FREE(activity->counts);
    *activity = (struct activity){0};
}

uint64_t activity_bytes(const struct activity *activity) {
    const uint64_t rows = (uint64_t)activity->stretches + 1;
    return rows * activity->populations * activity->threads * sizeof **activity->counts;
}
