/// \file
/// How long each rank computes in each measured cycle, read from a file. There is no such file but in
/// simulated time.

#ifndef RUN_COMPUTE_TIMES_H
#define RUN_COMPUTE_TIMES_H

#include "base/error.h"
#include "measurement/phases.h"

/// The last axis of the file.
enum compute_phase { compute_deliver, compute_update, compute_collocate, n_compute_phases };

/// The compute times of one rank.
struct compute_times {
    float (*seconds)[n_compute_phases]; ///< [measured cycle], or NULL where no file was given
};

/// Reads the part of one rank from a .npy file: float32 [ranks, cycles, n_compute_phases], seconds.
/// Close them in any case. \param path NULL: there is no file.
bool compute_times_open(struct compute_times *times, const char *path, int ranks, int rank, uint32_t cycles,
                        struct error *error);

void compute_times_close(struct compute_times *times);

#endif
