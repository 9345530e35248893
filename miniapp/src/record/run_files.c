#include "record/run_files.h"

#include <stddef.h>

const struct run_file run_file_record = {"record.json", "miniapp", "what was run, where, and what came out"};
const struct run_file run_file_ranks = {"ranks.csv", "miniapp", "counts and times of each rank"};
const struct run_file run_file_cycles = {"cycles.npy", "miniapp",
                                         "time of each phase of each cycle and rank"};
const struct run_file run_file_spikes = {"spikes.npy", "miniapp", "neuron and step of each spike"};
const struct run_file run_file_counters = {"counters.csv", "miniapp", "counters by rank, thread and phase"};
const struct run_file run_file_energy = {"energy.csv", "miniapp", "readings of the energy meters"};

const struct run_file run_file_placement = {"placement.json", "miniapp", "the placement file of the run"};
const struct run_file run_file_exchange = {"exchange.json", "miniapp",
                                           "the files that exchanges of the run name"};
const struct run_file run_file_kernel = {"kernel.csv", "miniapp",
                                         "what the kernel of each node counted meanwhile"};
const struct run_file run_file_kernel_cycles = {"kernel.npy", "miniapp",
                                                "what the kernel counted for each rank in each cycle"};

static const struct run_file launch = {"launch.json", "spikemark", "how the run was started"};
static const struct run_file simulation = {"simulation.json", "spikemark", "how the run was simulated"};
static const struct run_file timestamp = {".snakemake_timestamp", "snakemake", "when the run was made"};

const struct run_file *const run_files[] = {&run_file_record,
                                            &run_file_ranks,
                                            &run_file_cycles,
                                            &run_file_spikes,
                                            &run_file_counters,
                                            &run_file_energy,
                                            &run_file_kernel,
                                            &run_file_kernel_cycles,
                                            &run_file_placement,
                                            &run_file_exchange,
                                            &launch,
                                            &simulation,
                                            &timestamp,
                                            NULL};
