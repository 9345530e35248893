/// \file
/// Every file that the directory of a run may hold. A directory that holds anything else is not a run's, and
/// is never replaced.

#ifndef RECORD_RUN_FILES_H
#define RECORD_RUN_FILES_H

struct run_file {
    const char *name;
    const char *writer;  ///< which program writes it: "miniapp", "spikemark" or "snakemake"
    const char *summary; ///< one line for --list
};

/// Files that the mini-app writes itself.
extern const struct run_file run_file_record, run_file_ranks, run_file_cycles, run_file_spikes,
    run_file_counters, run_file_energy, run_file_kernel, run_file_kernel_cycles, run_file_placement,
    run_file_exchange;

/// All files, ended by NULL.
extern const struct run_file *const run_files[];

#endif
