#include "measurement/phases.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

#define PHASE_NAME(name) #name,
const char *const phase_names[n_phases] = {PHASES(PHASE_NAME)};

void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles) {
    *log = (struct cycle_log){.cycles = cycles};
    if (keep_cycles) log->time = alloc_zero(cycles, sizeof *log->time);
}

void cycle_log_close(struct cycle_log *log) {
    free(log->time);
}

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
