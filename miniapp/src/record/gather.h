/// \file
/// Gathers blocks of any size from all ranks on the first.

#ifndef RECORD_GATHER_H
#define RECORD_GATHER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// Calls `take` on rank 0 with the block of every rank in turn: `count` items of `size` bytes each. The count
/// may differ from rank to rank and be 0. Collective. \return on rank 0 whether every call was true; true
/// elsewhere.
bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context);

#endif
