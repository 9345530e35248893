#include "record/record.h"

#include "record/arrays.h"
#include "transport/agree.h"

/// The arrays that are asked for.
static bool write_arrays(const struct report *report, struct run_directory *directory, MPI_Comm world,
                         struct error *error) {
    const struct description *d = report->description;
    const bool first = report->model->rank == 0;
    if (d->given.record_cycles != 0) {
        FILE *file = first ? run_directory_file(directory, "cycles.npy", error) : NULL;
        if (!agree(world, error)) return false;
        bool written = arrays_write_cycles(&report->measured->log, world, file);
        if (file) run_directory_close_file("cycles.npy", file, written, error);
    }
    if (d->given.record_spikes != 0) {
        FILE *file = first ? run_directory_file(directory, "spikes.npy", error) : NULL;
        if (!agree(world, error)) return false;
        bool written = arrays_write_spikes(&report->measured->trace, world, file);
        if (file) run_directory_close_file("spikes.npy", file, written, error);
    }
    return true;
}

/// Gathers what the threads counted; writes counters.csv if counters are asked for.
static bool gather_counters(const struct report *report, struct meter_sums *sums,
                            struct run_directory *directory, MPI_Comm world, struct error *error) {
    const bool write = report->description->record_counters && report->model->rank == 0;
    FILE *file = write ? run_directory_file(directory, "counters.csv", error) : NULL;
    if (!agree(world, error)) return false;
    bool written = meters_gather(sums, report->counters, (double)report->measured->peak_bytes, world, file);
    if (file) run_directory_close_file("counters.csv", file, written, error);
    return true;
}

/// Gathers what the nodes drew; writes energy.csv if there is any.
static void gather_power(const struct report *report, struct power_record *energy,
                         struct run_directory *directory, struct error *error) {
    power_gather(energy, report->power, report->measured->span);
    if (report->model->rank != 0 || !power_record_any(energy)) return;
    FILE *file = run_directory_file(directory, "energy.csv", error);
    if (file) run_directory_close_file("energy.csv", file, power_write(energy, file), error);
}

bool record_write(struct report *report, struct run_directory *directory, MPI_Comm world,
                  struct error *error) {
    struct meter_sums sums = {0};
    struct power_record energy = {0};
    report->meters = &sums;
    report->energy = &energy;
    if (write_arrays(report, directory, world, error) &&
        gather_counters(report, &sums, directory, world, error)) {
        gather_power(report, &energy, directory, error);
        if (report->model->rank == 0 && !error_stands(error) && report_write(report, directory, error) &&
            run_directory_commit(directory, error))
            report_summary(report, directory);
    }
    meters_close(&sums);
    power_record_close(&energy);
    return agree(world, error);
}
