/// \file
/// Memory of every rank that the others may put into between fences. The one-sided exchanges share it. MPI
/// calls it a window; here a window is always a span of cycles.

#ifndef TRANSPORT_EXCHANGE_RMA_MEMORY_H
#define TRANSPORT_EXCHANGE_RMA_MEMORY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct rma_memory {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

/// Opens memory of `count` words, which may differ between ranks. Collective; ends with the fence that opens
/// the first epoch.
void rma_memory_open(struct rma_memory *memory, MPI_Comm comm, size_t count);

/// Closes the memory. Collective; returns when all ranks have done with it.
void rma_memory_close(struct rma_memory *memory);

static inline size_t rma_memory_bytes(const struct rma_memory *memory) {
    return memory->count * sizeof *memory->words;
}

#endif
