#include "measurement/phases.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

#define PHASE_NAME(name) #name,
const char *const phase_names[n_phases] = {PHASES(PHASE_NAME)};

void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles) {
    *log = (struct cycle_log){.cycles = cycles};
    if (keep_cycles) log->seconds = alloc_zero(cycles, sizeof *log->seconds);
}

void cycle_log_close(struct cycle_log *log) {
    free(log->seconds);
}

void cycle_log_unmeasured(struct cycle_log *log, enum phase phase) {
    log->total[phase] = NAN;
    for (uint32_t cycle = 0; log->seconds && cycle < log->cycles; cycle++) log->seconds[cycle][phase] = NAN;
}
