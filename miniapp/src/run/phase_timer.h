/// \file
/// Times the phases of a cycle: the cycle loop (run/simulate.c) says where each one ends, and nothing else
/// of it reads a clock.
///
/// A phase begins where the one before it ended, and its time is that between the two readings of the clock.
/// So the phases of the master thread add up to the wall-clock time of the cycles, and nothing is left out.
/// The other threads read no clock; the master thread sees them as `thread_wait`. Where hardware counters are
/// asked for, every thread reads its own at the end of each of its phases.
///
/// What the loop calls while two lanes, near and far, exchange at the end of a cycle, each after a barrier:
///
///     call                               the clock is read, and the time since the last reading is added to
///     near   phase_end_exchanges()       (not read: no exchange is pending)
///            phase_end(synchronise)      synchronise: the barrier
///            phase_exchange_pending()    (not read)
///     far    phase_end_exchanges()       exchange: that of near
///            phase_end(synchronise)      synchronise: the barrier
///            phase_exchange_pending()    (not read)
///     end    phase_end_exchanges()       exchange: that of far
///
/// Without barriers the clock is read at the end only, for both lanes together. A far lane with a lag calls
/// phase_end(exchange) after its start, which ends the exchange of near as well, and phase_end(overlap_wait)
/// after its finish.
///
/// In simulated time the kernels may have to take as long as a file says (run/compute_times.h). Then the end
/// of deliver, update or collocate is put off until that time has passed.
///
/// Cost: a reading of the clock for each phase and cycle, counted for the record's timer_overhead.

#pragma once

#include "run/compute_times.h"
#include "run/counters.h"
#include "run/model.h"

/// What the master thread writes at the end of each phase. It lies apart from what the other threads read.
struct clock_readings {
    uint64_t first, last; ///< the clock as first and last read, ticks
    uint64_t number;      ///< of readings
    double start_s;       ///< seconds of the slow clock at the first of them
    bool pending;         ///< lanes have exchanged since the last one: phase_exchange has not ended
};

/// The timer of a stretch of cycles. It does not change while the threads run, but for `clock`.
struct phase_timer {
    struct cycle_log *log;             ///< borrowed; NULL in the warm-up, of which no time is kept
    struct counters *counters;         ///< NULL unless they are read at the end of each phase
    const struct compute_times *times; ///< NULL unless they say how long the kernels take
    struct lane *lanes;                ///< [n_lanes] whose exchanges go on while given times pass; borrowed
    int n_lanes;                       ///< of this rank
    struct clock_readings *clock;      ///< owned
    bool counts;                       ///< kind of the clock, as clock_counts() says
};

/// Opens a timer that keeps what it reads in `log`, or with NULL keeps nothing. \param counters may be NULL.
/// \param times may be NULL or hold none, in which case the kernels take the time that they take.
struct phase_timer phase_timer_open(const struct model *model, struct cycle_log *log,
                                    struct counters *counters, const struct compute_times *times);

/// Begins the first phase, outside the threads: reads both clocks, since ticks are fast to read and seconds
/// convert them afterwards.
void phase_timer_begin(struct phase_timer *timer);

/// Ends a phase, which every thread that takes part in it does. In a timer with given times, deliver, update
/// and collocate end when theirs have passed.
void phase_end(const struct phase_timer *timer, int thread, uint32_t cycle, enum phase phase);

/// Adds the time since the last phase to one of `cycle` that has ended before, for which no given time
/// passes.
void phase_add(const struct phase_timer *timer, int thread, uint32_t cycle, enum phase phase);

/// Says that the master thread has exchanged a lane and that no phase need end here: one reading of the
/// clock, by phase_end_exchanges() after the last lane, serves all lanes that neither meet at a barrier nor
/// overlap.
void phase_exchange_pending(const struct phase_timer *timer);
/// Ends phase_exchange of the master thread if lanes have exchanged since the last reading of the clock.
void phase_end_exchanges(const struct phase_timer *timer, uint32_t cycle);

/// Begins the next phase of the master thread here: the time since the last one belongs to no phase. What
/// counters counted in it is that of `phase`.
void phase_drop(const struct phase_timer *timer, enum phase phase);

/// Ends the timing: ticks in the log become seconds, by both clocks over the whole stretch. Frees the timer.
/// \param reads [out] number of readings of the clock; may be NULL. \return seconds from the begin to the end
/// of the last phase.
double phase_timer_close(struct phase_timer *timer, uint64_t *reads);
