/// \file
/// The phases of a cycle, in the order in which it runs them, and a log of how long each took. This is the
/// only list of them; spikemark.records.phases has it for the analysis, and a test compares the two.
///
/// Times are those of the master thread, whose phases add up to the wall-clock time. `thread_wait` is its
/// time at the barriers of the threads. It is 0 with one thread, which meets nobody.
///
/// Nothing here reads a clock. simulate.c does: it adds the ticks that it counted, and says in the end how
/// long a tick lasts.

#pragma once

#include <stdbool.h>
#include <stdint.h>

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
    uint32_t cycles;
    float (*time)[n_phases]; ///< [cycles][phases], or NULL
    double total[n_phases];
};

void cycle_log_open(struct cycle_log *log, uint32_t cycles, bool keep_cycles);
void cycle_log_close(struct cycle_log *log);

static inline void cycle_log_add(struct cycle_log *log, uint32_t cycle, enum phase phase, uint64_t ticks) {
    log->total[phase] += (double)ticks;
    if (log->time) log->time[cycle][phase] += (float)ticks;
}

void cycle_log_scale(struct cycle_log *log, double seconds_per_tick);

/// Marks a phase as not measured: it becomes NAN in every cycle and in the total.
void cycle_log_unmeasured(struct cycle_log *log, enum phase phase);

// -------------------- regions
// Regions for Score-P in a build with SPIKEMARK_SCOREP. In any other build they are nothing. A region has the
// name of the phase whose time it takes, so that a profile can be checked against the cycle log. REGION_BEGIN
// and REGION_END stand in one block, once for each name.

#ifdef SPIKEMARK_SCOREP
#include <scorep/SCOREP_User.h>

#define REGION_BEGIN(name)                                                                                   \
    SCOREP_USER_REGION_DEFINE(region_##name)                                                                 \
    SCOREP_USER_REGION_BEGIN(region_##name, #name, SCOREP_USER_REGION_TYPE_COMMON)
#define REGION_END(name) SCOREP_USER_REGION_END(region_##name)

#else
#define REGION_BEGIN(name) ((void)0)
#define REGION_END(name)   ((void)0)
#endif
