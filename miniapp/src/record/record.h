/// \file
/// The record of a run (miniapp/FORMAT.md): what all ranks measured, gathered on the first, and the
/// directory.

#pragma once

#include "run/simulate.h"
#include <stdio.h>

/// Calls `take` on rank 0 with the block of every rank in turn: `count` items of `size` bytes each. The count
/// may differ from rank to rank and be 0. Collective. \return on rank 0 whether every call was true; true
/// elsewhere.
bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context);

// -------------------- nodes

struct node {
    struct host host;
    struct frequency frequency;
    int ranks; ///< on this node
};

/// On the first rank. Nodes count from 0 in the order of their lowest ranks.
struct nodes {
    int count;
    struct node *node; ///< [count]
    int *of_rank;      ///< [ranks], number of the node of each rank
};

/// Finds the nodes of `world`: ranks that share memory. Collective. \param host of the calling rank.
/// \param sysfs what is read in place of /sys. Elsewhere than on rank 0, `nodes` is empty afterwards.
void nodes_gather(struct nodes *nodes, const struct host *host, const char *sysfs, MPI_Comm world);

void nodes_close(struct nodes *nodes);

/// Returns a new list of what may differ between nodes; null in simulated time, where they are not this
/// machine.
json_t *nodes_json(const struct nodes *nodes);

// -------------------- results

/// Counts and measurements of a rank: a row of ranks.csv.
struct rank_tally {
    uint64_t neurons, synapses;
    struct part_counts counts;
    uint64_t state_checksum;
    struct traffic traffic;
    uint64_t peak_bytes; ///< 0: unknown
    uint64_t part_bytes[build_parts];
    uint64_t log_bytes;
    double build_s, simulate_s, process_s, node_busy_s, node_stolen_s;
    double phase_s[n_phases];
    struct lane_tally {
        uint64_t synapses, windows, messages, bytes, spikes;
        uint64_t connections;         ///< ranks that this one sends messages to
        struct level_traffic *levels; ///< [levels] of a composed exchange
    } * lanes;                        ///< [lanes of the model]
};

/// Gathers the tallies. Collective over `world`. \return on rank 0 [ranks], to be closed; NULL elsewhere.
struct rank_tally *tally(const struct model *model, const struct measured *measured, double build_s,
                         MPI_Comm world);
void tally_close(struct rank_tally *tally); ///< NULL is ignored

/// Gathers a list of processors, such as "0-3,8", from each rank. Collective. \return on rank 0 a new list
/// of lists of numbers; NULL elsewhere.
json_t *tally_processors(const char *list, MPI_Comm world);

/// Everything that the record is made of, borrowed. What is gathered from the ranks is there on rank 0 only.
struct results {
    const struct description *description;
    const struct model *model;
    const struct measured *measured;
    const struct host *host;
    const struct counters *counters;
    json_t *meters;                 ///< gathered
    json_t *binding, *usable_cores; ///< gathered, as in struct host
    const struct rank_tally *ranks; ///< gathered, [model->processes]
    const struct nodes *nodes;      ///< gathered
    const json_t *placement_file;   ///< its content; NULL where the placement needs none
    const char *sysfs;              ///< what was read in place of /sys
    const char *started;            ///< ISO 8601, UTC
    double clock_read_s;
    double ahead_s; ///< how far its system clock is ahead of the monotonic one, after the run; NAN in
                    ///< simulated time
    double step_s;  ///< by how much its system clock was set since it started; likewise
};

/// Appends to `list`, on rank 0, what all threads of all ranks have counted, as `meters` of record.json has
/// it, and writes counters.csv unless `file` is NULL. Collective. \return on rank 0 whether it could be
/// written.
bool meters_gather(json_t *list, const struct counters *counters, double peak_bytes, MPI_Comm world,
                   FILE *file);

/// Return the largest value, a double, or the sum, a uint64_t, of a member of struct rank_tally over the
/// ranks.
#define RESULTS_LARGEST(results, member) results_largest(results, offsetof(struct rank_tally, member))
#define RESULTS_SUM(results, member)     results_sum(results, offsetof(struct rank_tally, member))
double results_largest(const struct results *results, size_t member);
uint64_t results_sum(const struct results *results, size_t member);

/// Returns the share of `simulate_s` that the master thread spent reading counters; NAN where it read none.
double results_counter_overhead(const struct results *results, double simulate_s);

/// Writes ranks.csv on rank 0. \return false if it could not be written.
bool results_write_ranks(const struct results *results, FILE *file);

// -------------------- arrays

/// Lets rank 0 write all spikes, sorted by step, then gid, to `file`, which other ranks ignore. Collective.
/// \return false on rank 0 if they could not be written.
bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file);

/// Lets rank 0 write float32 seconds [rank, cycle, phase]. Collective. \return as above.
bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file);

// -------------------- provenance
// Where this binary comes from. CMake writes provenance.c at every build (miniapp/provenance.cmake).

extern const char *const provenance_version;  ///< of the project
extern const char *const provenance_commit;   ///< "" where git does not tell
extern const int provenance_dirty;            ///< 1, 0, or -1 where git does not tell
extern const char *const provenance_compiler; ///< name and version
extern const char *const provenance_flags;

/// Returns all of it as a new object, with the MPI library and when the program was started (ISO 8601, UTC).
json_t *provenance_json(const char *started);

// -------------------- run_directory
// The directory DIR, which is written as DIR.partial-XXXXXX and renamed when it is whole. A directory that
// holds a file of any other name is not a run's, and is never replaced.

struct run_file {
    const char *name;
    const char *writer;  ///< which program writes it: "miniapp", "spikemark" or "snakemake"
    const char *summary; ///< one line for --list
};

extern const struct run_file *const run_files[];

struct run_directory {
    char *path;    ///< DIR
    char *partial; ///< where it is written; NULL unless open
    bool replaces; ///< an earlier record stands at DIR until the commit
};

/// Makes the partial directory and those above it. Fails where DIR exists and is neither an empty directory
/// nor the record of an earlier run with nothing else in it, and where it cannot be written.
bool run_directory_open(struct run_directory *directory, const char *path, struct error *error);

FILE *run_directory_file(const struct run_directory *directory, const char *name, struct error *error);
/// Flushes a file to the disk and closes it. It is an error if that fails or `written` is false.
bool run_directory_close_file(const char *name, FILE *file, bool written, struct error *error);

/// Puts the partial directory in the place of DIR. An earlier record is removed after that, never before.
/// Anything else that has appeared there is left alone, and is an error.
bool run_directory_commit(struct run_directory *directory, struct error *error);

/// Removes the partial directory if it is still there, and forgets the paths.
void run_directory_close(struct run_directory *directory);

/// Gathers what the ranks still hold, writes every file, puts the directory in its place, and prints the
/// summary. Collective over `world`; rank 0 writes. An error is the same on all ranks.
bool record_write(struct results *results, struct run_directory *directory, MPI_Comm world,
                  struct error *error);
