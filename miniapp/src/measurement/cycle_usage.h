/// \file
/// What the kernel counted for a thread while it computed, cycle by cycle: kernel.npy. The caller marks where
/// computing begins and ends in a cycle.

#ifndef MEASUREMENT_CYCLE_USAGE_H
#define MEASUREMENT_CYCLE_USAGE_H

#include "measurement/usage.h"
#include <stdbool.h>
#include <stdint.h>

#define CYCLE_USAGE(FIELD)                                                                                   \
    FIELD(processor_s)                                                                                       \
    FIELD(involuntary)                                                                                       \
    FIELD(voluntary)                                                                                         \
    FIELD(faults)

#define CYCLE_USAGE_NUMBER(name) cycle_usage_##name,
enum cycle_usage_field { CYCLE_USAGE(CYCLE_USAGE_NUMBER) n_cycle_usage };

/// The names of the fields, in order.
extern const char *const cycle_usage_names[n_cycle_usage];

struct cycle_usage {
    uint32_t cycles;
    float (*kept)[n_cycle_usage]; ///< [cycles], or NULL where nobody wants it
    struct usage_thread entered;
};

void cycle_usage_open(struct cycle_usage *usage, uint32_t cycles, bool wanted);
void cycle_usage_close(struct cycle_usage *usage);

/// Marks where the thread begins to compute.
static inline void cycle_usage_enter(struct cycle_usage *usage) {
    if (usage->kept) usage->entered = usage_thread_now();
}

/// Adds what was counted since the mark to a cycle.
static inline void cycle_usage_leave(struct cycle_usage *usage, uint32_t cycle) {
    if (!usage->kept) return;
    const struct usage_thread now = usage_thread_now();
    float *kept = usage->kept[cycle];
    kept[cycle_usage_processor_s] += (float)(now.cpu_s - usage->entered.cpu_s);
    kept[cycle_usage_involuntary] += (float)(now.involuntary - usage->entered.involuntary);
    kept[cycle_usage_voluntary] += (float)(now.voluntary - usage->entered.voluntary);
    kept[cycle_usage_faults] += (float)(now.faults - usage->entered.faults);
}

#endif
