/// \file
/// Memory of every rank that the others may put into between fences. The one-sided exchanges share it. MPI
/// calls it a window; here a window is always a span of cycles.

#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct rma_memory {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

static inline size_t rma_memory_bytes(const struct rma_memory *memory) {
    return memory->count * sizeof *memory->words;
}
