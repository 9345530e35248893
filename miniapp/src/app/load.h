/// \file
/// The run description as JSON, from one file to all ranks.

#ifndef APP_LOAD_H
#define APP_LOAD_H

#include "base/error.h"
#include <jansson.h>
#include <mpi.h>

/// Rank 0 reads the file; all get the text, so that all ranks work with the same description. Collective.
/// \param overrides [n_overrides] assignments of --set.
/// \return owned by the caller; NULL where it cannot be read.
json_t *load_run(const char *path, const char *const *overrides, int n_overrides, MPI_Comm world,
                 struct error *error);

#endif
