/// \file
/// The ranks and threads that there really are, checked before anything is built.

#pragma once

#include "base/error.h"
#include "description/description.h"
#include "description/placement.h"
#include "schedule/lane_plan.h"
#include <mpi.h>

/// Ranks and threads of the run.
struct layout {
    int ranks, threads; ///< threads of every rank
};

/// Reads the layout. Refuses an OMP_NUM_THREADS that is no number, that differs between ranks, or that the
/// system does not grant, and several threads with an MPI library that does not support them (`provided`).
/// Collective.
bool layout_read(struct layout *layout, MPI_Comm world, int provided, struct error *error);

/// Refuses a network that needs more memory than the node of this rank has, which builds rank `rank`.
/// Collective.
bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, int rank, struct error *error);
