/// \file
/// Counters of threads: what the system counts (getrusage, always) and hardware counters by phase (PAPI, and
/// events of the kernel where there are none), and the peak of the memory of a process.
///
/// getrusage is read before and after the measured part only. If counters of PAPI are asked for, every thread
/// reads them at the end of each phase of every cycle. If not, the cycle loop touches nothing of this. A
/// count that could not be read is NAN, never 0, and has a reason.

#pragma once

#include "description/description.h"
#include "measurement/phases.h"

/// Quantities, in the order of `quantities`: those of PAPI, of which the first are of the hardware, those of
/// getrusage, and the peak of the memory. For each, so many names of events are tried.
enum { papi_quantities = 9, papi_hardware = 5, usage_quantities = 6, quantities_max = 16, events_max = 3 };
/// The number of the first quantity of getrusage, and that of the peak.
enum { quantity_usage = papi_quantities, quantity_peak = quantity_usage + usage_quantities };
/// Bytes of a reason, which names up to three events and why each cannot be counted.
enum { reason_max = 400 };

/// What can be counted. Events mean the same and are tried in order; PAPI offers some that cannot be counted
/// afterwards.
struct quantity {
    const char *name;               ///< as in record.counters and counters.csv
    const char *unit;               ///< "count", "s", "ns" or "byte"
    const char *meter;              ///< name of its struct meter
    const char *events[events_max]; ///< tried in this order; NULL where there are fewer
};

extern const struct quantity quantities[quantities_max]; ///< of papi, getrusage, memory, in this order

/// A source of counts, for --list: where they come from and whether they are of a thread or a process.
struct meter {
    const char *name;    ///< as in the record: `source`
    const char *summary; ///< one line
    const char *scope;   ///< "thread" or "process"
    const char *absent;  ///< why this program is built without it; NULL otherwise
};

extern const struct meter *const meters[]; ///< all, ended by NULL

/// Whether a quantity could be counted. Denied: the system does not permit it.
enum count_status { count_ok, count_unavailable, count_denied };

/// What became of a quantity on one thread.
struct count {
    bool wanted; ///< asked for, or always counted
    enum count_status status;
    int event;               ///< which one is counted; -1: none
    char reason[reason_max]; ///< why not; "" otherwise
};

/// The counters of one thread. They are allocated apart, so that threads do not share cache lines.
struct thread_counters {
    int events;                 ///< PAPI's event set
    bool running;               ///< the event set counts
    int place[papi_quantities]; ///< in the event set; -1: not counted
    struct count count[quantities_max];
    double used[usage_quantities];             ///< over the measured part
    double last[papi_quantities];              ///< at the end of the last phase
    double counted[n_phases][papi_quantities]; ///< over all cycles, by phase
    uint64_t marks[n_phases];                  ///< timer at which a phase ended
};

/// The counters of all threads of a rank.
struct counters {
    int threads;   ///< of the rank
    bool by_phase; ///< some counter is read at the end of each phase
    double read_s; ///< what reading the counters of a thread once takes; NAN where none is read
    struct thread_counters **thread; ///< [threads]
};

/// Refuses names in record.counters that no counter has.
bool counters_check(const struct description *description, struct error *error);

/// Opens the counters of all threads; never fails, see struct count. Calls all threads.
void counters_open(struct counters *counters, const struct description *description, int threads);
/// Closes them. Counters set to zero may be closed, too.
void counters_close(struct counters *counters);

/// The first forgets what was counted, right before the measured part; the second reads getrusage for the
/// last time after it. Both call all threads.
void counters_start(struct counters *counters);
void counters_stop(struct counters *counters);

/// Adds what the calling thread has counted since its last mark to a phase.
void counters_mark(struct counters *counters, int thread, int phase);
