/// \file
/// Reads the number of ranks and threads and what the system grants, and compares the memory that a run
/// needs with that of its nodes.
///
/// All ranks must have the same number of threads, since placement deals neurons to ranks x threads. What
/// OMP_NUM_THREADS asks for is compared with what a parallel region really gets. Memory, with what
/// building takes for a while, is summed over the ranks of a node, by estimate.c, before anything is built.

#include "app/layout.h"

#include "app/estimate.h"
#include "measurement/platform.h"
#include "run/build.h"
#include "transport/communicator.h"
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { most_threads = 4096 }; ///< of a rank: beyond any node; keeps ranks x threads within what is checked

/// Reads what OMP_NUM_THREADS asks for (the first number of a list); 0 where it is not set.
static bool read_variable(int *wanted, struct error *error) {
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    *wanted = 0;
    if (!text) return true;
    // OpenMP takes a list, one number for each level of nesting; there is only one level here.
    const long value = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || value < 1 || value > most_threads)
        return error_set(error, "OMP_NUM_THREADS: \"%.40s\"; expected an integer from 1 to %d", text,
                         most_threads);
    *wanted = (int)value;
    return true;
}

bool layout_read(struct layout *layout, MPI_Comm world, int provided, struct error *error) {
    // What was asked for, what the system grants, and whether all ranks have the same.
    int wanted, fewest, most;
    MPI_Comm_size(world, &layout->ranks);
    read_variable(&wanted, error);
    if (!agree(world, error)) return false;
    // Otherwise a region might get fewer threads than asked for.
    omp_set_dynamic(0);
    layout->threads = wanted ? wanted : omp_get_max_threads();
    const int granted = build_threads(layout->threads);
    if (granted != layout->threads)
        error_set(error, "OMP_NUM_THREADS: %d; expected at most %d, which is what the system grants",
                  layout->threads, granted);
    if (provided < MPI_THREAD_FUNNELED && layout->threads > 1)
        error_set(error, "OMP_NUM_THREADS: %d; expected 1, since this MPI library has no thread support",
                  layout->threads);
    MPI_Allreduce(&layout->threads, &fewest, 1, MPI_INT, MPI_MIN, world);
    MPI_Allreduce(&layout->threads, &most, 1, MPI_INT, MPI_MAX, world);
    if (fewest != most)
        error_set(error, "OMP_NUM_THREADS: %d on one rank, %d on another; expected the same on all", fewest,
                  most);
    return agree(world, error);
}

bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, int rank, struct error *error) {
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), gib = exp2(30);
    MPI_Comm node;
    if (platform.one_process)
        MPI_Comm_dup(world, &node); // all ranks are on this machine
    else
        MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    // Ranks of a node share its memory, so their needs add up.
    struct estimate estimate = estimate_rank(description, placement, schedule, rank);
    double own = estimate_sum(&estimate) + estimate.building, needed;
    MPI_Allreduce(&own, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    if (needed > memory)
        error_set(error,
                  "network: %.3g GiB on this node; expected at most its memory, %.3g GiB (see --explain)",
                  needed / gib, memory / gib);
    return agree(world, error);
}
