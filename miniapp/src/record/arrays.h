/// \file
/// Arrays of the run record: cycles.npy and spikes.npy, gathered from all ranks and written by the first.

#ifndef RECORD_ARRAYS_H
#define RECORD_ARRAYS_H

#include "measurement/phases.h"
#include "run/trace.h"
#include <mpi.h>
#include <stdio.h>

/// Lets rank 0 write all spikes, sorted by step, then gid, to `file`, which other ranks ignore. Collective.
/// \return false on rank 0 if they could not be written.
bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file);

/// Lets rank 0 write float32 seconds [rank, cycle, phase]. Collective. \return as above.
bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file);

#endif
