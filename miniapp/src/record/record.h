/// \file
/// The record of a run (miniapp/FORMAT.md): what all ranks measured, gathered on the first, and its
/// directory.

#pragma once

#include "record/results.h"
#include "record/run_directory.h"

/// Gathers what the ranks still hold, writes every file, puts the directory in its place, and prints the
/// summary. Collective over `world`; rank 0 writes. An error is the same on all ranks.
bool record_write(struct results *results, struct run_directory *directory, MPI_Comm world,
                  struct error *error);
