/// \file
/// Arrays of the run record: cycles.npy and spikes.npy, gathered from all ranks and written by the first.

#ifndef ASSEMBLY_TRACE_H
#define ASSEMBLY_TRACE_H

#include "base/spike.h"
#include "measurement/phases.h"
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

/// The spikes of one rank.
struct trace {
    bool wanted;
    size_t count, capacity;
    uint32_t (*spikes)[2]; ///< [count] gid and step
};

void trace_open(struct trace *trace, bool wanted);
void trace_close(struct trace *trace);

/// Keeps the spikes, if wanted.
void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n);

/// Collective. Rank 0 writes all spikes, sorted by step, then gid, to `file`; on other ranks `file` is
/// ignored. \return false on rank 0 if they could not be written.
bool trace_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file);

/// Collective. Rank 0 writes float32 seconds [rank, cycle, phase].
bool trace_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file);

#endif
