/// \file
/// Gathers blocks of any length from all ranks on the first, one after the other, so that rank 0 holds
/// one at a time.

#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// Calls `take` on rank 0 with the block of every rank in turn: `count` items of `size` bytes each. The count
/// may differ from rank to rank and be 0. Collective. \return on rank 0 whether every call was true; true
/// elsewhere.
bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context);

/// Items of all ranks, one behind the other, as gather_append() takes them.
struct gathered {
    char *items;
    size_t size, count; ///< bytes of an item, items so far
};

/// Appends a block to a struct gathered, which has room for it: `take` of gather_blocks().
bool gather_append(const void *block, size_t count, void *gathered);
