#include "run/hooks.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct inject inject_open(const struct description *d, int rank, uint32_t neurons, int threads) {
    struct rng_words drawn = rng_draw(d->network.seed, rng_inject, 0, (uint32_t)rank, 0);
    double effect = rng_normal(drawn.word[0], drawn.word[1]);
    const double per_neuron = per_rank_value(&d->inject_neuron_ns, rank);
    const double per_synapse = per_rank_value(&d->inject_synapse_ns, rank);
    return (struct inject){
        .description = d,
        .rank = (uint32_t)rank,
        .rank_s = 1e-6 * (d->given.inject_mean_us + effect * d->given.inject_rank_us) +
                  1e-9 * per_neuron * neurons / threads,
        .synapse_s = 1e-9 * per_synapse / threads,
        .z = rng_normal(drawn.word[2], drawn.word[3]),
        .active = d->given.inject_mean_us > 0 || d->given.inject_sd_us > 0 || d->given.inject_rank_us > 0 ||
                  per_neuron > 0 || per_synapse > 0,
    };
}

double inject_next(struct inject *inject, uint64_t synapses) {
    const struct description *d = inject->description;
    const double rho = d->given.inject_serial;
    struct rng_words drawn = rng_draw(d->network.seed, rng_inject, 1, inject->rank, inject->cycle);
    if (inject->cycle++ > 0)
        inject->z = rho * inject->z + sqrt(1 - rho * rho) * rng_normal(drawn.word[0], drawn.word[1]);
    const uint64_t delivered = synapses - inject->synapses;
    inject->synapses = synapses;
    double wait =
        inject->rank_s + 1e-6 * d->given.inject_sd_us * inject->z + inject->synapse_s * (double)delivered;
    if (rng_uniform(drawn.word[2]) < d->given.inject_share) wait *= d->given.inject_factor;
    return fmax(wait, 0);
}

/// Reads the rows of a rank, of which the file has `cycles` for each of so many ranks and nothing else.
static bool read_times(struct compute_times *times, FILE *file, int ranks, int rank, uint32_t cycles) {
    const size_t row = sizeof *times->seconds;
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
    if (!time_is_simulated)
        return error_set(error, "--compute-times: expected only in the build for SimGrid (make simulator)");
    FILE *file = fopen(path, "rb");
    const bool good = file && read_times(times, file, ranks, rank, cycles);
    if (file) fclose(file);
    return good || error_set(error,
                             "--compute-times: %s; expected a file of float32 seconds >= 0 for %d ranks, "
                             "%u measured cycles, and deliver, update, collocate",
                             path, ranks, cycles);
}

// -------------------- trace

void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n) {
    if (!trace->wanted || n == 0) return;
    trace->spikes = alloc_room(trace->spikes, &trace->capacity, trace->count + n, sizeof *trace->spikes);
    for (uint32_t i = 0; i < n; i++) {
        trace->spikes[trace->count][0] = spikes[i].gid;
        trace->spikes[trace->count++][1] = spikes[i].step;
    }
}

enum { bytes = 2 * sizeof(uint32_t) };

bool progress_open(struct progress *progress, const char *path, int rank, const struct description *run,
                   struct error *error) {
    *progress = (struct progress){.path = path};
    if (!path || rank != 0) return true;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (file < 0) return error_set(error, "--progress: %s: %s; expected a new file", path, strerror(errno));
    const int why = posix_fallocate(file, 0, bytes); // writing to what is mapped beyond a full disk is fatal
    void *mapped = why ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) {
        unlink(path);
        return error_set(error, "--progress: %s: %s; expected an ordinary file on a disk with room", path,
                         strerror(why ? why : errno));
    }
    progress->cycles = mapped;
    progress->cycles[1] = run->warmup_cycles + run->cycles;
    return true;
}

void progress_close(struct progress *progress, bool keep) {
    if (!progress->cycles) return;
    munmap((void *)progress->cycles, bytes);
    if (!keep) unlink(progress->path);
}
