/// \file
/// The phases of a cycle, in the order in which it runs them, and a log of how long each took. This is the
/// only list of them; spikemark.records.phases has it for the analysis, and a test compares the two.
///
/// Times are those of the master thread, whose phases add up to the wall-clock time. `thread_wait` is its
/// time at the barriers of the threads. It is 0 with one thread, which meets nobody.
///
/// Nothing here reads a clock. run/phase_timer.c does: it adds the ticks that it counted, and says in the end
/// how long a tick lasts.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// All phases: PHASE(name) for each. The names are those of record.json and of the last axis of cycles.npy.
#define PHASES(PHASE)                                                                                        \
    PHASE(deliver)                                                                                           \
    PHASE(update)                                                                                            \
    PHASE(thread_wait)                                                                                       \
    PHASE(inject)                                                                                            \
    PHASE(collocate)                                                                                         \
    PHASE(synchronise)                                                                                       \
    PHASE(exchange)                                                                                          \
    PHASE(overlap_wait)

#define PHASE_NUMBER(name) phase_##name,
enum phase { PHASES(PHASE_NUMBER) n_phases };

extern const char *const phase_names[n_phases];

/// The time that one rank spent in each phase, in ticks until cycle_log_scale() and in seconds afterwards.
/// The totals are always kept, the single cycles only if they are asked for.
struct cycle_log {
    uint32_t cycles;         ///< of the measured part
    float (*time)[n_phases]; ///< [cycles][phases] owned, or NULL; 24 bits: 60 ns in a second
    double total[n_phases];  ///< over all cycles
};

/// Opens the log of so many cycles; `keep_cycles` says whether to keep each of them.
void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles);
/// Frees the cycles. A log that was set to zero may be closed, too.
void cycle_log_close(struct cycle_log *log);

/// Adds ticks to a phase of a cycle.
static inline void cycle_log_add(struct cycle_log *log, uint32_t cycle, enum phase phase, uint64_t ticks) {
    log->total[phase] += (double)ticks;
    if (log->time) log->time[cycle][phase] += (float)ticks;
}

/// Turns ticks into seconds, once, at the end.
void cycle_log_scale(struct cycle_log *log, double seconds_per_tick);

/// Marks a phase as not measured: it becomes NAN in every cycle and in the total.
void cycle_log_unmeasured(struct cycle_log *log, enum phase phase);
