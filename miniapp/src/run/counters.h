/// \file
/// Counters: what the meters of threads count on each OpenMP thread of this rank, in all and by phase.
///
/// A *meter* (measurement/meter.h) is a source of values. A *counter* is one value of a meter of threads, and
/// only ever goes up. getrusage is read before and after the measured part only. If counters of PAPI are
/// asked for, every thread reads them at the seams of every cycle. If not, the cycle loop touches nothing of
/// this.

#ifndef RUN_COUNTERS_H
#define RUN_COUNTERS_H

#include "description/description.h"
#include "measurement/meter.h"
#include "measurement/phases.h"
#include <stdint.h>

/// The counters of one thread. They are allocated apart, so that threads do not share cache lines.
struct thread_counters {
    struct meter_handle usage, papi; ///< papi is not open unless asked for
    double used[meter_channels_max]; ///< of usage, over the measured part
    double last[meter_channels_max]; ///< of papi, at the last seam
    double counted[n_phases][meter_channels_max];
    uint64_t marks[n_phases]; ///< seams at which a phase ended
};

struct counters {
    int threads;
    bool by_phase; ///< some counter is read at the seams
    double read_s; ///< what reading the counters of a thread once takes; NAN where none is read
    struct thread_counters **thread; ///< [threads]
};

/// Refuses names in record.counters that no counter has.
bool counters_check(const struct description *description, struct error *error);

/// Opens the meters on all threads. With `require`, a counter that was asked for and cannot be read is an
/// error, which lists those that can. Close the counters in any case.
void counters_open(struct counters *counters, const struct description *description, int threads,
                   bool require, struct error *error);
void counters_close(struct counters *counters);

/// The first forgets what was counted, right before the measured part; the second reads the meters for the
/// last time after it. Both call all threads.
void counters_start(struct counters *counters);
void counters_stop(struct counters *counters);

/// Adds what the calling thread has counted since its last mark to a phase.
void counters_mark(struct counters *counters, int thread, int phase);

#endif
