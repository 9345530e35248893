/// \file
/// Counters of threads: what the system counts (getrusage, always) and hardware counters by phase (PAPI, and
/// events of the kernel where there are none), and the peak of the memory of a process.
///
/// getrusage is read before and after the measured part only. If counters of PAPI are asked for, every thread
/// reads them at the seams of every cycle. If not, the cycle loop touches nothing of this. A count that could
/// not be read is NAN, never 0, and has a reason.

#pragma once

#include "description/description.h"
#include "measurement/phases.h"

enum { papi_quantities = 9, papi_hardware = 5, usage_quantities = 6, quantities_max = 16, events_max = 3 };
enum { quantity_usage = papi_quantities, quantity_peak = quantity_usage + usage_quantities };
enum { reason_max = 400 };

/// What can be counted. Events mean the same and are tried in order; PAPI offers some that cannot be counted
/// afterwards.
struct quantity {
    const char *name, *unit, *meter;
    const char *events[events_max];
};

extern const struct quantity quantities[quantities_max]; ///< of papi, getrusage, memory, in this order

struct meter {
    const char *name, *summary, *scope;
    const char *absent; ///< why this program is built without it; NULL otherwise
};

extern const struct meter *const meters[]; ///< all, ended by NULL

enum count_status { count_ok, count_unavailable, count_denied };

struct count {
    bool wanted;
    enum count_status status;
    int event;               ///< which one is counted; -1: none
    char reason[reason_max]; ///< why not; "" otherwise
};

/// The counters of one thread. They are allocated apart, so that threads do not share cache lines.
struct thread_counters {
    int events; ///< PAPI's event set
    bool running;
    int place[papi_quantities]; ///< in the event set; -1: not counted
    struct count count[quantities_max];
    double used[usage_quantities]; ///< over the measured part
    double last[papi_quantities];  ///< at the last seam
    double counted[n_phases][papi_quantities];
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

void counters_open(struct counters *counters, const struct description *description, int threads);
void counters_close(struct counters *counters);

/// The first forgets what was counted, right before the measured part; the second reads getrusage for the
/// last time after it. Both call all threads.
void counters_start(struct counters *counters);
void counters_stop(struct counters *counters);

/// Adds what the calling thread has counted since its last mark to a phase.
void counters_mark(struct counters *counters, int thread, int phase);
