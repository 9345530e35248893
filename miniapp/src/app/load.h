/// \file
/// Brings the run description, as JSON, from one file to all ranks.

#ifndef APP_LOAD_H
#define APP_LOAD_H

#include "base/error.h"
#include <jansson.h>
#include <mpi.h>

/// Lets rank 0 read the file and all ranks get the text, so that all work with the same description.
/// Collective.
/// \param overrides [n_overrides] assignments of --set.
/// \return owned by the caller; NULL where it cannot be read.
json_t *load_run(const char *path, const char *const *overrides, int n_overrides, MPI_Comm world,
                 struct error *error);

#endif
