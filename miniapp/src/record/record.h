/// \file
/// Gathers what all ranks measured and writes the record.

#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "record/report.h"

/// Collective over `world`; rank 0 does the writing, and prints one line about it. `report` is complete but
/// for what is gathered here.
bool record_write(struct report *report, struct run_directory *directory, MPI_Comm world,
                  struct error *error);

#endif
