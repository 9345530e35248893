/// \file
/// The phases of a cycle, in the order in which it runs them, and the log of how long each took.
///
/// Nothing here reads a clock: simulate.c does, and adds what it measured.

#ifndef MEASUREMENT_PHASES_H
#define MEASUREMENT_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#define PHASES(PHASE)                                                                                        \
    PHASE(deliver)                                                                                           \
    PHASE(update)                                                                                            \
    PHASE(collocate)                                                                                         \
    PHASE(synchronise)                                                                                       \
    PHASE(exchange)

#define PHASE_NUMBER(name) phase_##name,
enum phase { PHASES(PHASE_NUMBER) n_phases };

/// The names, in order.
extern const char *const phase_names[n_phases];

/// Seconds per phase of one rank. The totals are always kept, the single cycles if asked for.
struct cycle_log {
    uint32_t cycles;
    float (*seconds)[n_phases]; ///< [cycles][phases], or NULL
    double total[n_phases];
};

void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles);
void cycle_log_close(struct cycle_log *log);

static inline void cycle_log_add(struct cycle_log *log, uint32_t cycle, enum phase phase, double seconds) {
    log->total[phase] += seconds;
    if (log->seconds) log->seconds[cycle][phase] += (float)seconds;
}

/// Marks a phase as not measured: not a number in every cycle and in the total.
void cycle_log_unmeasured(struct cycle_log *log, enum phase phase);

#endif
