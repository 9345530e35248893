#include "run/compute_times.h"

#include "base/alloc.h"
#include "base/npy.h"
#include "measurement/simulated.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const phases[n_compute_phases] = {"deliver", "update", "collocate"};

/// Checks that the array is what is asked for, and that the file is neither shorter nor longer.
static bool check_file(FILE *file, const char *path, size_t ranks, size_t cycles, struct error *error) {
    enum { dimensions = 3 };
    size_t shape[dimensions];
    if (!npy_read_header(file, "<f4", shape, dimensions))
        return error_set(error,
                         "--compute-times: %s: no such array; allowed: a .npy file, float32, C order, "
                         "shape [ranks, cycles, phases]",
                         path);
    if (shape[0] != ranks || shape[1] != cycles || shape[2] != n_compute_phases)
        return error_set(
            error,
            "--compute-times: %s: shape [%zu, %zu, %zu]; allowed: [%zu, %zu, %d], which is ranks, "
            "measured cycles, and deliver, update, collocate",
            path, shape[0], shape[1], shape[2], ranks, cycles, n_compute_phases);
    struct stat status;
    const size_t bytes = (size_t)ftell(file) + ranks * cycles * sizeof(float[n_compute_phases]);
    if (fstat(fileno(file), &status) != 0 || (size_t)status.st_size != bytes)
        return error_set(error, "--compute-times: %s: %zu bytes; allowed: %zu, as its header says", path,
                         (size_t)status.st_size, bytes);
    return true;
}

static bool check_values(const struct compute_times *times, const char *path, int rank, uint32_t cycles,
                         struct error *error) {
    for (uint32_t cycle = 0; cycle < cycles; cycle++)
        for (int p = 0; p < n_compute_phases; p++)
            if (!(times->seconds[cycle][p] >= 0 && isfinite(times->seconds[cycle][p])))
                return error_set(error,
                                 "--compute-times: %s: rank %d, cycle %u, %s: %g; allowed: seconds >= 0",
                                 path, rank, cycle, phases[p], times->seconds[cycle][p]);
    return true;
}

bool compute_times_open(struct compute_times *times, const char *path, int ranks, int rank, uint32_t cycles,
                        struct error *error) {
    *times = (struct compute_times){NULL};
    if (!path) return true;
    if (!simulated_check(error)) return false;
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(error, "--compute-times: %s: %s; allowed: a .npy file", path, strerror(errno));
    const size_t row = sizeof *times->seconds;
    bool good = check_file(file, path, (size_t)ranks, cycles, error);
    if (good) {
        times->seconds = alloc(cycles, row);
        if (fseek(file, (long)((size_t)rank * cycles * row), SEEK_CUR) != 0 ||
            fread(times->seconds, row, cycles, file) != cycles)
            good = error_set(error, "--compute-times: %s: cannot be read", path);
    }
    fclose(file);
    return good && check_values(times, path, rank, cycles, error);
}

void compute_times_close(struct compute_times *times) {
    free(times->seconds);
}
