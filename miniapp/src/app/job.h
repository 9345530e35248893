/// \file
/// All that a run of the program holds, from its description to its record, and the one place that gives
/// it back, however far the run has come.

#pragma once

#include "app/layout.h"
#include "app/options.h"
#include "record/run_directory.h"
#include "run/compute_times.h"
#include "run/counters.h"
#include "run/measured.h"
#include "run/model.h"
#include "run/progress.h"

/// In a job set to zero nothing is open. Large: allocate it.
struct job {
    struct description description;
    struct placement placement;
    json_t *placement_file; ///< its content, on the first rank; NULL where the placement needs none
    struct schedule schedule;
    struct run_directory directory; ///< on rank 0
    struct counters counters;
    struct compute_times times;
    struct progress progress;
    struct dry dry; ///< as the options ask
    bool is_dry;
    bool borrows; ///< description, placement and schedule belong to the first rank of the process
    struct model model;
    struct measured measured;
    double start_s;   ///< when it began, by the clock of the rank
    double ahead_s;   ///< how far the system clock was ahead then
    char started[32]; ///< the same as a date: ISO 8601, UTC
    bool ran;         ///< the cycles have been run
};

/// Collective over `world`, as what follows. Reads the description and checks everything that can be checked
/// before anything is built.
bool job_plan(struct job *job, const struct options *options, const struct layout *layout, MPI_Comm world,
              struct error *error);

/// Opens what the run will read and write, and builds the network. An error is the same on all ranks.
bool job_build(struct job *job, const struct options *options, const struct layout *layout, MPI_Comm world,
               struct error *error);

/// Runs the cycles and writes the record. \return whether it could be written; the error is the same on all
/// ranks.
bool job_run(struct job *job, MPI_Comm world, struct error *error);

/// Closes what is open, also after a failure of any of the above, and frees the job. Collective.
void job_close(struct job *job, MPI_Comm world);
