/// \file
/// Memory of every rank into which others put words between fences of MPI (one-sided communication).
///
/// What MPI calls a window is called memory here, since a window of the mini-app is a span of cycles. An
/// epoch is the time between two fences: what is put in it has arrived when the fence that ends it returns.

#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/// Memory of every rank that the others may put into between fences. MPI calls it a window; here a window is
/// always a span of cycles.
struct rma_memory {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

enum { rma_cache_line = 16, rma_header = 1, rma_first_room = rma_cache_line - rma_header }; ///< words

/// Opens memory of `count` words, which may differ between ranks. Collective; ends with the fence that opens
/// the first epoch.
void rma_memory_open(struct rma_memory *memory, MPI_Comm comm, size_t count);

/// Closes the memory. Collective; returns when all ranks have done with it.
void rma_memory_close(struct rma_memory *memory);

/// Returns the bytes of this rank's memory.
size_t rma_memory_bytes(const struct rma_memory *memory);
