/// \file
/// The command line.

#pragma once

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
    int ranks, threads; ///< for --explain; 0: as started
    bool is_dry;        ///< --as-rank, --of
    struct dry dry;     ///< what is asked of it
    bool json;          ///< print JSON; of --list and --explain
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

/// Refuses a network that needs more memory than the node of this rank has, which builds rank `rank`.
/// Collective.
bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, int rank, struct error *error);

// -------------------- explain
// What is known of a run from its description alone, above all the memory that its ranks will need.

/// The bytes of each part, as build_bytes() finds them afterwards. Lists and routes are expectations over the
/// random sources. Buffers are those of an exchange with small windows: more words need more room.
struct estimate {
    double neurons, synapses, lists, routes, ring, buffers;
    /// What building takes at most on top of what stays, bytes. While the synapses are drawn, every thread
    /// counts the buckets of sources of each lane, 4 bytes each, and neither lists nor routes are there yet.
    /// When it sorts them, the sources of the rank are there, too, 2 bytes for each and 16 for each bucket,
    /// and every thread has room for one bucket; where it writes lines, also for a group of lists and for
    /// 1 / alloc_releases of its synapses, whose memory it has not given back yet. When the routes are made,
    /// only the sources are left, and a round of requests: 16 bytes for each of its lists.
    double building;
    double lane_lists[schedule_lanes_max];
};

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank);

/// Returns the bytes of all parts, which stay.
double estimate_sum(const struct estimate *estimate);

/// Refuses lanes that may be expected to have more lists on a rank than a four-byte spike can name.
bool estimate_check_words(const struct description *description, const struct placement *placement,
                          const struct schedule *schedule, struct error *error);

/// --list (miniapp/FORMAT.md): prints all registered variants, with what is known of each, and the files of a
/// run.
void list_print(void);

/// --explain (miniapp/FORMAT.md): prints what would run, and the memory of each rank.
void explain_print(const struct description *description, const struct placement *placement,
                   const struct schedule *schedule);

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
