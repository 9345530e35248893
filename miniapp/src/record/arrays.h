/// \file
/// The arrays of a run as NumPy files, written by rank 0 from what all ranks hold: cycles.npy,
/// spikes.npy, activity.npy.

#pragma once

#include "measurement/phases.h"
#include "run/activity.h"
#include "run/spike_trace.h"
#include <mpi.h>
#include <stdio.h>

/// Lets rank 0 write all spikes, sorted by step, then gid, to `file`, which other ranks ignore. Collective.
/// \return false on rank 0 if they could not be written.
bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file);

/// Lets rank 0 write how many spikes each population fired on all ranks, uint32 [stretch, population].
/// Collective. \return as above.
bool arrays_write_activity(const struct activity *activity, MPI_Comm comm, FILE *file);

/// Lets rank 0 write float32 seconds [rank, cycle, phase]. Collective. \return as above.
bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file);
