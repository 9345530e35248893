#include "record/arrays.h"

#include "base/alloc.h"
#include "base/npy.h"
#include "record/gather.h"
#include <stdlib.h>
#include <string.h>

static int by_step_then_gid(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

struct all_spikes {
    uint32_t (*spikes)[2];
    size_t count;
};

static bool append_spikes(const void *block, size_t count, void *context) {
    struct all_spikes *all = context;
    if (count) memcpy(all->spikes + all->count, block, count * sizeof *all->spikes);
    all->count += count;
    return true;
}

bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file) {
    int rank;
    unsigned long long own = trace->count, total = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(&own, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);

    struct all_spikes all = {.spikes = rank == 0 ? alloc(total, sizeof *all.spikes) : NULL};
    gather_blocks(comm, trace->spikes, trace->count, sizeof *trace->spikes, append_spikes, &all);
    if (rank != 0) return true;
    qsort(all.spikes, all.count, sizeof *all.spikes, by_step_then_gid);
    bool written = npy_header(file, "<u4", (size_t[]){all.count, 2}, 2) &&
                   fwrite(all.spikes, sizeof *all.spikes, all.count, file) == all.count;
    free(all.spikes);
    return written;
}

static bool write_block(const void *block, size_t count, void *file) {
    return fwrite(block, sizeof(float[n_phases]), count, file) == count;
}

bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    bool headed = rank != 0 || npy_header(file, "<f4", (size_t[]){(size_t)ranks, log->cycles, n_phases}, 3);
    return gather_blocks(comm, log->time, log->cycles, sizeof *log->time, write_block, file) && headed;
}
