/// \file
/// Lets all ranks agree on whether there is an error, so that all end alike and one line is printed.

#ifndef TRANSPORT_AGREE_H
#define TRANSPORT_AGREE_H

#include "base/error.h"
#include <mpi.h>

/// Collective. If some rank has an error, all ranks take over the error of the lowest such rank.
/// \return whether there is none.
bool agree(MPI_Comm comm, struct error *error);

#endif
