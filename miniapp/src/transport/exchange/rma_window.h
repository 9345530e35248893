/// \file
/// Memory of every rank that the others may put into between fences: what the one-sided exchanges share.

#ifndef TRANSPORT_EXCHANGE_RMA_WINDOW_H
#define TRANSPORT_EXCHANGE_RMA_WINDOW_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct rma_window {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

/// `count` may differ between ranks. Collective; ends with the fence that opens the first epoch.
void rma_window_open(struct rma_window *window, MPI_Comm comm, size_t count);

/// Collective; returns when all ranks have done with the memory.
void rma_window_close(struct rma_window *window);

static inline size_t rma_window_bytes(const struct rma_window *window) {
    return window->count * sizeof *window->words;
}

#endif
