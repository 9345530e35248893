#include "measurement/cycle_usage.h"

#include "base/alloc.h"
#include <stdlib.h>

#define CYCLE_USAGE_NAME(name) #name,
const char *const cycle_usage_names[n_cycle_usage] = {CYCLE_USAGE(CYCLE_USAGE_NAME)};

void cycle_usage_open(struct cycle_usage *usage, uint32_t cycles, bool wanted) {
    *usage = (struct cycle_usage){.cycles = cycles};
    if (wanted) usage->kept = alloc_zero(cycles, sizeof *usage->kept);
}

void cycle_usage_close(struct cycle_usage *usage) {
    free(usage->kept);
    *usage = (struct cycle_usage){0};
}
