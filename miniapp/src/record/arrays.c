/// \file
/// Writes NumPy's format 1.0, one rank's block after the other.
///
/// A file is a header, which states type and shape, and then the numbers as they lie in memory, little
/// endian. Cycles are written rank by rank as they arrive, so that rank 0 holds one rank's times at a time.
/// Spikes have to be sorted, for which rank 0 holds all of them. Activity is summed over ranks.

#include "record/arrays.h"

#include "base/alloc.h"
#include "record/gather.h"
#include "transport/communicator.h"
#include <stdint.h>
#include <stdlib.h>

/// Writes the header of a NumPy array: version 1.0, C order, little endian. `type` is such as "<f4".
static bool npy_header(FILE *file, const char *type, const size_t *shape, int dimensions) {
    char text[256];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < dimensions; i++) n += snprintf(text + n, sizeof text - (size_t)n, "%zu, ", shape[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");

    // The header is padded so that the numbers begin at a multiple of 64 bytes.
    enum { preamble = 10, alignment = 64 };
    int padded = (preamble + n + 1 + alignment - 1) / alignment * alignment - preamble;
    unsigned char head[preamble] = "\x93NUMPY\x01";
    head[8] = (unsigned char)(padded & 255);
    head[9] = (unsigned char)(padded >> 8);
    return fwrite(head, 1, preamble, file) == preamble && fprintf(file, "%-*s\n", padded - 1, text) == padded;
}

/// Compares spikes, for qsort().
static int by_step_then_gid(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file) {
    unsigned long long own = trace->count, total = 0;
    const int rank = comm_rank(comm);
    MPI_Reduce(&own, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);

    // Rank 0 takes the spikes of all ranks, sorts and writes them.
    const size_t size = sizeof *trace->spikes;
    struct gathered all = {.items = rank == 0 ? alloc(total, size) : NULL, .size = size};
    gather_blocks(comm, trace->spikes, trace->count, size, gather_append, &all);
    if (rank != 0) return true;
    qsort(all.items, all.count, size, by_step_then_gid);
    const bool written = npy_header(file, "<u4", (size_t[]){all.count, 2}, 2) &&
                         fwrite(all.items, size, all.count, file) == all.count;
    free(all.items);
    return written;
}

/// Writes the times of one rank: `take` of gather_blocks().
static bool write_block(const void *block, size_t count, void *file) {
    return fwrite(block, sizeof(float[n_phases]), count, file) == count;
}

bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file) {
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    bool headed = rank != 0 || npy_header(file, "<f4", (size_t[]){(size_t)ranks, log->cycles, n_phases}, 3);
    return gather_blocks(comm, log->time, log->cycles, sizeof *log->time, write_block, file) && headed;
}

bool arrays_write_activity(const struct activity *activity, MPI_Comm comm, FILE *file) {
    // Threads of this rank first, then ranks.
    const size_t populations = activity->populations, count = activity->stretches * populations;
    uint32_t *sum = ALLOC_ZERO(uint32_t, count);
    for (uint32_t t = 0; t < activity->threads; t++)
        for (size_t i = 0; i < count; i++) sum[i] += activity->counts[t][i];
    const bool first = comm_rank(comm) == 0;
    // Counts that a reduction takes at a time.
    enum { at_once = 1 << 20 };
    for (size_t at = 0; at < count; at += at_once) {
        const size_t n = count - at < at_once ? count - at : at_once;
        MPI_Reduce(first ? MPI_IN_PLACE : sum + at, sum + at, (int)n, MPI_UINT32_T, MPI_SUM, 0, comm);
    }
    const bool written =
        !first || (npy_header(file, "<u4", (size_t[]){activity->stretches, populations}, 2) &&
                   fwrite(sum, sizeof *sum, count, file) == count);
    free(sum);
    return written;
}
