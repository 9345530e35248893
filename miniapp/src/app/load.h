/// \file
/// Brings the run description, as JSON, from one file to all ranks, and files that it names.

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

/// Does the same for a JSON file that `field` of the run description at path `run` names. A relative path
/// starts from the folder of the run description. Collective. \return owned by the caller; NULL where it
/// cannot be read.
json_t *load_beside(const char *run, const char *file, const char *field, MPI_Comm world,
                    struct error *error);

#endif
