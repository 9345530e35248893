/// \file
/// Memory of every rank that the others may put into between fences: what the one-sided exchanges share.

#ifndef TRANSPORT_EXCHANGE_WINDOW_H
#define TRANSPORT_EXCHANGE_WINDOW_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    MPI_Win handle;
    uint32_t *words; ///< this rank's, in units of which the others address them; at first 0
    size_t count;
};

/// `count` may differ between ranks. Collective; ends with the fence that opens the first epoch.
void window_open(struct window *window, MPI_Comm comm, size_t count);

/// Collective; returns when all ranks have done with the memory.
void window_close(struct window *window);

static inline size_t window_bytes(const struct window *window) {
    return window->count * sizeof *window->words;
}

#endif
