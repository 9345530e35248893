/// \file
/// Writes the record of a run: gathers what the ranks still hold, writes every file, and puts the directory
/// in its place.

#ifndef RECORD_WRITE_H
#define RECORD_WRITE_H

#include "record/results.h"
#include "record/run_directory.h"

/// Collective over `world`; rank 0 does the writing and prints the summary. `results` holds everything but
/// the meters and the energy, which are gathered here and forgotten afterwards. An error is the same on all
/// ranks.
bool record_write(struct results *results, struct run_directory *directory, MPI_Comm world,
                  struct error *error);

#endif
