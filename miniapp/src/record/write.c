#include "record/write.h"

#include "measurement/simulated.h"
#include "record/arrays.h"
#include "record/record_json.h"
#include "record/summary.h"
#include "transport/agree.h"

/// Writes the arrays that are asked for.
static bool write_arrays(const struct results *results, struct run_directory *directory, MPI_Comm world,
                         struct error *error) {
    const struct description *d = results->description;
    const bool first = results->model->process == 0;
    if (d->given.record_cycles != 0) {
        FILE *file = first ? run_directory_file(directory, &run_file_cycles, error) : NULL;
        if (!agree(world, error)) return false;
        bool written = arrays_write_cycles(&results->measured->log, world, file);
        if (file) run_directory_close_file(&run_file_cycles, file, written, error);
    }
    if (d->given.record_spikes != 0) {
        FILE *file = first ? run_directory_file(directory, &run_file_spikes, error) : NULL;
        if (!agree(world, error)) return false;
        bool written = arrays_write_spikes(&results->measured->trace, world, file);
        if (file) run_directory_close_file(&run_file_spikes, file, written, error);
    }
    return true;
}

/// Gathers what the threads counted; writes counters.csv if counters are asked for.
static bool gather_counters(const struct results *results, struct meter_sums *sums,
                            struct run_directory *directory, MPI_Comm world, struct error *error) {
    const bool write = results->description->record_counters && results->model->process == 0;
    FILE *file = write ? run_directory_file(directory, &run_file_counters, error) : NULL;
    if (!agree(world, error)) return false;
    bool written =
        meter_sums_gather(sums, results->counters, (double)results->measured->peak_bytes, world, file);
    if (file) run_directory_close_file(&run_file_counters, file, written, error);
    return true;
}

/// Gathers the energy of the nodes; writes energy.csv if there is any.
static void gather_energy(const struct results *results, struct energy_record *energy,
                          struct run_directory *directory, struct error *error) {
    energy_record_gather(energy, results->reader, results->measured->span, results->ahead_s);
    if (results->model->process != 0 || !energy_record_any(energy)) return;
    FILE *file = run_directory_file(directory, &run_file_energy, error);
    if (file) run_directory_close_file(&run_file_energy, file, energy_record_write(energy, file), error);
}

/// Gathers what the kernel counted, if that is asked for; writes kernel.csv, and kernel.npy beside
/// cycles.npy.
static bool gather_kernel(const struct results *results, struct kernel_record *kernel,
                          struct run_directory *directory, MPI_Comm world, struct error *error) {
    const bool first = results->model->process == 0;
    const struct cycle_usage *usage = &results->measured->usage;
    if (results->description->given.record_kernel == 0 || time_is_simulated) return true;
    FILE *file = first ? run_directory_file(directory, &run_file_kernel, error) : NULL;
    if (!agree(world, error)) return false;
    bool written = kernel_record_gather(kernel, results->kernel_reader, results->measured->span, file);
    if (file) run_directory_close_file(&run_file_kernel, file, written, error);
    if (!usage->kept) return true;
    file = first ? run_directory_file(directory, &run_file_kernel_cycles, error) : NULL;
    if (!agree(world, error)) return false;
    written = kernel_record_write_cycles(usage, world, file);
    if (file) run_directory_close_file(&run_file_kernel_cycles, file, written, error);
    return true;
}

/// Writes what a file of the description says, so that the record is whole without it.
static bool write_copy(const json_t *content, const struct run_file *which, struct run_directory *directory,
                       struct error *error) {
    FILE *file = run_directory_file(directory, which, error);
    return file && run_directory_close_file(which, file, json_dumpf(content, file, JSON_COMPACT) == 0, error);
}

/// Writes the files that rank 0 makes of what it has gathered.
static bool write_files(const struct results *results, struct run_directory *directory, struct error *error) {
    FILE *file = run_directory_file(directory, &run_file_ranks, error);
    if (!file || !run_directory_close_file(&run_file_ranks, file, results_write_ranks(results, file), error))
        return false;
    if (results->placement_file &&
        !write_copy(results->placement_file, &run_file_placement, directory, error))
        return false;
    if (json_object_size(results->description->exchange_files) > 0 &&
        !write_copy(results->description->exchange_files, &run_file_exchange, directory, error))
        return false;
    file = run_directory_file(directory, &run_file_record, error);
    return file && run_directory_close_file(&run_file_record, file, record_json_write(results, file), error);
}

bool record_write(struct results *results, struct run_directory *directory, MPI_Comm world,
                  struct error *error) {
    struct meter_sums sums = {0};
    struct energy_record energy = {0};
    struct kernel_record kernel = {0};
    results->meters = &sums;
    results->energy = &energy;
    results->kernel = &kernel;
    if (write_arrays(results, directory, world, error) &&
        gather_counters(results, &sums, directory, world, error) &&
        gather_kernel(results, &kernel, directory, world, error)) {
        gather_energy(results, &energy, directory, error);
        if (results->model->process == 0 && !error_stands(error) && write_files(results, directory, error) &&
            run_directory_commit(directory, error))
            summary_print(results, directory);
    }
    results->meters = NULL;
    results->energy = NULL;
    results->kernel = NULL;
    meter_sums_close(&sums);
    energy_record_close(&energy);
    kernel_record_close(&kernel);
    return agree(world, error);
}
