/// \file
/// Writes all files of a run into its directory, puts the directory in its place, and prints one line
/// about the run.
///
/// First the files to which all ranks contribute (write_gathered()), which is collective; then those that
/// rank 0 makes of what it has gathered before (write_files()). Only when all are written does the directory
/// get its name, so a record is complete or absent. Read next: record_json.c, the longest part.

#include "record/record.h"

#include "base/alloc.h"
#include "record/arrays.h"
#include "record/record_json.h"
#include "transport/communicator.h"
#include <stdlib.h>

/// Prints the line.
static void summary_print(const struct results *results, const struct run_directory *directory) {
    const struct model *model = results->model;
    double simulate_s = RESULTS_LARGEST(results, simulate_s);
    double model_s = 1e-3 * results->description->given.cycle_ms * results->description->cycles;
    char *path = alloc_string(directory->path);
    error_plain(path);
    printf("%s%s: ", path, directory->replaces ? " (replaced an earlier record)" : "");
    free(path);
    if (model->dry)
        printf("dry run of rank %d of %d x %d, ", model->rank, model->ranks, model->threads);
    else
        printf("%d x %d, real-time factor %.3g (%.3g s for %.3g s), ", model->ranks, model->threads,
               simulate_s / model_s, simulate_s, model_s);
    printf(
        "%llu spikes (%.3g per neuron and second), %llu synaptic events, checksum %016llx\n",
        (unsigned long long)RESULTS_SUM(results, counts.spikes),
        (double)RESULTS_SUM(results, counts.spikes) / (double)RESULTS_SUM(results, neurons) / model_s,
        (unsigned long long)RESULTS_SUM(results, counts.synaptic_events),
        (unsigned long long)(RESULTS_SUM(results, counts.checksum) + RESULTS_SUM(results, state_checksum)));
}

/// Writes the arrays that the description asks for, and the counters. Collective; an error of
/// rank 0 reaches the others before the next file, or else in record_write().
static bool write_gathered(const struct results *results, const struct run_directory *directory,
                           MPI_Comm world, struct error *error) {
    static const char *const names[] = {"cycles.npy", "spikes.npy", "activity.npy", "counters.csv"};
    const struct description *d = results->description;
    const bool wanted[] = {d->given.record_cycles != 0, d->given.record_spikes != 0,
                           d->given.record_cycles != 0, d->record_counters};
    for (int i = 0; i < 4; i++) {
        const bool opens = wanted[i] && results->model->process == 0;
        FILE *file = opens ? run_directory_file(directory, names[i], error) : NULL;
        bool written = true;
        if (wanted[i] && !agree(world, error)) return false;
        if (i == 0 && wanted[i]) written = arrays_write_cycles(&results->measured->log, world, file);
        if (i == 1 && wanted[i]) written = arrays_write_spikes(&results->measured->trace, world, file);
        if (i == 2 && wanted[i]) written = arrays_write_activity(&results->measured->activity, world, file);
        if (i == 3) // also without a file
            written = meters_gather(results->meters, results->counters, (double)results->measured->peak_bytes,
                                    world, file);
        if (file) run_directory_close_file(names[i], file, written, error);
    }
    return true;
}

/// Writes the files that rank 0 makes of what it has gathered, and copies of those that the description
/// names, so that the record is whole without them.
static bool write_files(const struct results *results, const struct run_directory *directory,
                        struct error *error) {
    const json_t *copies[] = {results->placement_file, results->description->exchange_files};
    static const char *const names[] = {"placement.json", "exchange.json", "ranks.csv", "record.json"};
    for (int i = 0; i < 4; i++) {
        if (i < 2 && json_object_size(copies[i]) == 0) continue;
        FILE *file = run_directory_file(directory, names[i], error);
        if (!file) return false;
        const bool written = i < 2    ? json_dumpf(copies[i], file, JSON_COMPACT) == 0
                             : i == 2 ? results_write_ranks(results, file)
                                      : record_json_write(results, file);
        if (!run_directory_close_file(names[i], file, written, error)) return false;
    }
    return true;
}

bool record_write(struct results *results, struct run_directory *directory, MPI_Comm world,
                  struct error *error) {
    results->meters = json_array();
    if (write_gathered(results, directory, world, error) && results->model->process == 0 &&
        !error_stands(error) && write_files(results, directory, error) &&
        run_directory_commit(directory, error))
        summary_print(results, directory);
    json_decref(results->meters);
    return agree(world, error);
}
