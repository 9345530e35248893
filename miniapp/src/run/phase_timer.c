/// \file
/// Reads the clock and the counters where a phase ends, and lets given compute times pass.
///
/// A reading of the clock is a difference of ticks that is added to the log (measurement/phases.h); how long
/// a tick lasts is known when the stretch has ended. Cost: some 10 ns for each phase and cycle with the time
/// stamp counter, about a microsecond more for each thread where counters are read.

#include "run/phase_timer.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <stdlib.h>

/// Parts into which a given time of updating is divided in simulated time, with a call of MPI after each. It
/// stands for the calls between blocks. Chosen, not tuned: each part costs the simulator an event for each
/// rank.
enum { parts_of_update = 4 };

struct phase_timer phase_timer_open(const struct model *model, struct cycle_log *log,
                                    struct counters *counters, const struct compute_times *times) {
    return (struct phase_timer){.lanes = model->lanes,
                                .n_lanes = model->n_lanes,
                                .log = log,
                                .counters = counters && counters->by_phase ? counters : NULL,
                                .times = times && times->seconds ? times : NULL,
                                .clock = ALLOC_ZERO(struct clock_readings, 1)};
}

void phase_timer_begin(struct phase_timer *timer) {
    timer->counts = clock_counts();
    timer->clock->start_s = clock_now();
    timer->clock->first = timer->clock->last = clock_ticks(timer->counts);
}

/// Reads the clock and adds the time since the last reading to a phase.
static void read_clock(const struct phase_timer *timer, uint32_t cycle, enum phase phase) {
    struct clock_readings *clock = timer->clock;
    clock->pending = false;
    if (!timer->log) return;
    const uint64_t now = clock_ticks(timer->counts);
    cycle_log_add(timer->log, cycle, phase, now - clock->last);
    clock->number++;
    clock->last = now;
}

void phase_add(const struct phase_timer *timer, int thread, uint32_t cycle, enum phase phase) {
    if (thread == 0) read_clock(timer, cycle, phase);
    if (timer->counters) counters_mark(timer->counters, thread, phase);
}

/// Returns which of the given times is that of a phase; n_compute_phases for phases that have none.
static enum compute_phase compute_phase_of(enum phase phase) {
    switch (phase) {
    case phase_deliver:
        return compute_deliver;
    case phase_update:
        return compute_update;
    case phase_collocate:
        return compute_collocate;
    default:
        return n_compute_phases;
    }
}

/// Lets simulated time pass until the phase that began with the last reading of the clock has taken as long
/// as the file of compute times says. MPI works on exchanges under way in between.
static void pass_given_time(const struct phase_timer *timer, uint32_t cycle, enum compute_phase phase) {
    const double seconds = (double)timer->times->seconds[cycle][phase];
    // An update that overlaps with exchanges is divided, so that MPI can work on them in between.
    const bool overlaps = phase == compute_update && lanes_overlap(timer->lanes, timer->n_lanes);
    const int parts = overlaps ? parts_of_update : 1;
    for (int i = 1; i <= parts; i++) {
        const uint64_t ticks = clock_ticks(timer->counts) - timer->clock->last;
        const double left_s = seconds * i / parts - 1e-9 * (double)ticks; // simulated ticks are nanoseconds
        if (left_s > 0) clock_pass(left_s);
        if (overlaps) lanes_progress(timer->lanes, timer->n_lanes);
    }
}

void phase_end(const struct phase_timer *timer, int thread, uint32_t cycle, enum phase phase) {
    const enum compute_phase computes = compute_phase_of(phase);
    if (timer->times && computes < n_compute_phases) pass_given_time(timer, cycle, computes);
    phase_add(timer, thread, cycle, phase);
}

void phase_exchange_pending(const struct phase_timer *timer) {
    timer->clock->pending = true;
}

void phase_end_exchanges(const struct phase_timer *timer, uint32_t cycle) {
    if (timer->clock->pending) phase_end(timer, 0, cycle, phase_exchange);
}

void phase_drop(const struct phase_timer *timer, enum phase phase) {
    if (timer->counters) counters_mark(timer->counters, 0, phase);
    timer->clock->last = clock_ticks(timer->counts);
    timer->clock->pending = false;
}

double phase_timer_close(struct phase_timer *timer, uint64_t *reads) {
    const struct clock_readings *clock = timer->clock;
    // Seconds by the slow clock for ticks by the fast one, over the whole stretch.
    const double elapsed_s = clock_now() - clock->start_s;
    const double tick_s = elapsed_s / (double)(clock_ticks(timer->counts) - clock->first);
    const double seconds = (double)(clock->last - clock->first) * tick_s;
    if (timer->log) cycle_log_scale(timer->log, tick_s);
    if (reads) *reads = clock->number;
    free(timer->clock);
    *timer = (struct phase_timer){NULL};
    return seconds;
}
