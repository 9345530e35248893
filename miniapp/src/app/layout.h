/// \file
/// The ranks and threads that there really are, checked before anything is built.

#ifndef APP_LAYOUT_H
#define APP_LAYOUT_H

#include "app/estimate.h"
#include <mpi.h>

struct layout {
    int ranks, threads; ///< threads of every rank
};

/// Reads the layout. Refuses an OMP_NUM_THREADS that is no number, that differs between ranks, or that the
/// system does not grant, and several threads with an MPI library that does not support them (`provided`).
/// Collective.
bool layout_read(struct layout *layout, MPI_Comm world, int provided, struct error *error);

/// Returns the memory of this node, bytes.
double layout_memory(void);

/// Refuses a network that needs more memory than the node of this rank has. Collective.
bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, struct error *error);

#endif
