/// \file
/// The command line.

#pragma once

#include "app/explain.h"
#include "record/record.h"

enum action { action_run, action_list, action_explain, action_help, action_version };

struct options {
    enum action action;
    const char *description; ///< path of the run description
    const char *out;
    const char *compute_times; ///< NULL: not given
    const char *progress;      ///< NULL: not given
    const char **overrides;    ///< [n_overrides] of --set
    int n_overrides;
    int ranks, threads;    ///< for --explain; 0: as started
    bool is_dry;           ///< --as-rank, --of
    struct dry dry;        ///< what is asked of it
    bool json;             ///< print JSON; of --list and --explain
    bool require_counters; ///< refuse to run without those that are asked for
};

extern const char *const options_help;

/// Reads the command line; strings are borrowed from it. Close the options in any case.
bool options_read(struct options *options, int argc, char **argv, struct error *error);
void options_close(struct options *options);

// -------------------- layout
// The ranks and threads that there really are, checked before anything is built.

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

// -------------------- job
// All that a run of the program holds, from its description to its record, and the one place that gives it
// back, however far the run has come.

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
