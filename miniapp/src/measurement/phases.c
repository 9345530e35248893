/// \file
/// The names of phases, and the log of their times: a float for each phase and cycle where single cycles
/// are kept, else the sums.
///
/// Memory: 32 bytes for each measured cycle, taken and written before the cycles begin, so that no page is
/// touched for the first time while time is measured.

#include "measurement/phases.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

// Names come from the same list as the numbers.
#define PHASE_NAME(name) #name,
const char *const phase_names[n_phases] = {PHASES(PHASE_NAME)};

void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles) {
    *log = (struct cycle_log){.cycles = cycles};
    if (keep_cycles) log->time = alloc_zero(cycles, sizeof *log->time);
}

void cycle_log_close(struct cycle_log *log) {
    free(log->time);
}

// Ticks were added as they are, since nobody knows how long one lasts until the run is over.
void cycle_log_scale(struct cycle_log *log, double seconds_per_tick) {
    for (int phase = 0; phase < n_phases; phase++) {
        log->total[phase] *= seconds_per_tick;
        for (uint32_t cycle = 0; log->time && cycle < log->cycles; cycle++)
            log->time[cycle][phase] *= (float)seconds_per_tick;
    }
}

void cycle_log_unmeasured(struct cycle_log *log, enum phase phase) {
    log->total[phase] = NAN;
    for (uint32_t cycle = 0; log->time && cycle < log->cycles; cycle++) log->time[cycle][phase] = NAN;
}
