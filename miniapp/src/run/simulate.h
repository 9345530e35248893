/// \file
/// The cycle loop. It makes all readings of the clock during the simulation.

#pragma once

#include "measurement/host.h"
#include "run/build.h"
#include "run/counters.h"
#include "run/hooks.h"

struct measured {
    struct cycle_log log;
    double simulate_s;    ///< wall-clock time of the cycles
    double process_s;     ///< processor time of this process in them
    double node_busy_s;   ///< processor time of the whole node in them, NAN where unknown
    double node_stolen_s; ///< taken away by a hypervisor, NAN where unknown
    uint64_t clock_reads;
    uint64_t peak_bytes; ///< resident high-water mark of this process, 0 where unknown
    double from_s, to_s; ///< begin and end of the cycles, by the monotonic clock
    struct trace trace;  ///< spikes, if asked for
};

/// Runs the warm-up and the measured cycles. Collective over the ranks of the model.
/// \param counters may be NULL.
/// \param times may be NULL or hold none, in which case the kernels take the time that they take.
/// \param progress may have no file.
void simulate(struct model *model, struct counters *counters, const struct compute_times *times,
              const struct progress *progress, struct measured *measured);

void measured_close(struct measured *measured);
