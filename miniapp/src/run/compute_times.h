/// \file
/// Given compute times: how long each rank computes in each measured cycle, read from a file. Only
/// simulated time can pass as it is told to, so other builds refuse the file.

#pragma once

#include "base/error.h"
#include <stdint.h>

/// The last axis of the file.
enum compute_phase { compute_deliver, compute_update, compute_collocate, n_compute_phases };

/// The times of one rank.
struct compute_times {
    float (*seconds)[n_compute_phases]; ///< [measured cycle], or NULL where no file was given
};

/// Reads the part of one rank from a file of float32 [ranks, cycles, n_compute_phases], seconds, which the
/// caller frees in any case. \param path NULL: there is no file.
bool compute_times_open(struct compute_times *times, const char *path, int ranks, int rank, uint32_t cycles,
                        struct error *error);
