/// \file
/// Reads one rank's rows of a file of compute times, and checks that all are finite and at least 0.
///
/// `spikemark simulate` draws the times of a machine that is not there and writes them; the kernels still
/// run, so that spikes are real, but simulated time passes as the file says (run/phase_timer.c). The file
/// has no head: its size has to be that of ranks x measured cycles x 3 floats. Memory: 12 bytes for each
/// measured cycle.

#include "run/compute_times.h"

#include "base/alloc.h"
#include "measurement/platform.h"
#include <math.h>
#include <stdio.h>

/// Reads the rows of a rank, of which the file has `cycles` for each of so many ranks and nothing else.
static bool read_times(struct compute_times *times, FILE *file, int ranks, int rank, uint32_t cycles) {
    const size_t row = sizeof *times->seconds;
    // The size says whether the file is for this run.
    if (fseek(file, 0, SEEK_END) != 0 || (size_t)ftell(file) != (size_t)ranks * cycles * row) return false;
    times->seconds = alloc(cycles, row);
    if (fseek(file, (long)((size_t)rank * cycles * row), SEEK_SET) != 0 ||
        fread(times->seconds, row, cycles, file) != cycles)
        return false;
    for (uint32_t cycle = 0; cycle < cycles; cycle++)
        for (int p = 0; p < n_compute_phases; p++)
            if (!(times->seconds[cycle][p] >= 0 && isfinite(times->seconds[cycle][p]))) return false;
    return true;
}

bool compute_times_open(struct compute_times *times, const char *path, int ranks, int rank, uint32_t cycles,
                        struct error *error) {
    *times = (struct compute_times){NULL};
    if (!path) return true;
    if (!platform.passes_time)
        return error_set(error, "--compute-times: expected only in the build for SimGrid (make simulator)");
    FILE *file = fopen(path, "rb");
    const bool good = file && read_times(times, file, ranks, rank, cycles);
    if (file) fclose(file);
    return good || error_set(error,
                             "--compute-times: %s; expected a file of float32 seconds >= 0 for %d ranks, "
                             "%u measured cycles, and deliver, update, collocate",
                             path, ranks, cycles);
}
