/// \file
/// Runs a model: the warm-up, and the cycles that are measured.
///
/// What building has made, simulating only reads and fills: it takes memory for what is measured and for the
/// buffers of exchanges, and touches no file.

#pragma once

#include "run/compute_times.h"
#include "run/measured.h"
#include "run/model.h"
#include "run/progress.h"

/// Runs the warm-up and the measured cycles, and opens `measured`, which the caller closes. Collective over
/// the ranks of the model.
/// \param counters may be NULL.
/// \param times may be NULL or hold none, in which case the kernels take the time that they take.
/// \param progress may have no file.
void simulate(struct model *model, struct counters *counters, const struct compute_times *times,
              const struct progress *progress, struct measured *measured);
