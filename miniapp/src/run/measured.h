/// \file
/// What a run measured on this rank: times, spikes, and what the process and its node have used meanwhile.
///
/// simulate() opens it before the cycles, so that its memory is taken and touched by then, and begins and
/// ends it around the measured part. Memory: that of the log (measurement/phases.h), the counts
/// (run/activity.h) and the spikes (run/spike_trace.h).

#pragma once

#include "description/description.h"
#include "run/activity.h"
#include "run/counters.h"
#include "run/spike_trace.h"

/// What a run measured on this rank. Times are in seconds, and only of the measured cycles.
struct measured {
    struct cycle_log log;     ///< time of each phase, and of each cycle where asked for
    double simulate_s;        ///< wall-clock time of the cycles
    double process_s;         ///< processor time of this process in them
    double node_busy_s;       ///< processor time of the whole node in them, NAN where unknown
    double node_stolen_s;     ///< taken away by a hypervisor, NAN where unknown
    double throttled_s;       ///< taken away by the quotas of control groups, NAN where unknown
    uint64_t clock_reads;     ///< of the master thread, for the record's timer_overhead
    uint64_t peak_bytes;      ///< resident high-water mark of this process, 0 where unknown
    double from_s;            ///< begin of the cycles, by the monotonic clock
    double to_s;              ///< their end
    struct trace trace;       ///< spikes, if asked for
    struct activity activity; ///< spikes of populations, with the single cycles
};

/// Opens it for the measured cycles of a description, on a rank with so many threads.
void measured_open(struct measured *measured, const struct description *description, int threads);
/// Frees what it holds.
void measured_close(struct measured *measured);

/// Read, right before and right after the measured cycles, what the process and its node have used, and of
/// `counters`, which may be NULL, those of the system.
void measured_begin(struct measured *measured, struct counters *counters);
void measured_end(struct measured *measured, struct counters *counters);
