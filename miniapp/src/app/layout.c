#include "app/layout.h"

#include "measurement/simulated.h"
#include "run/build.h"
#include "transport/agree.h"
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { most_threads = 4096 };

/// Reads what OMP_NUM_THREADS asks for (the first number of a list); 0 where it is not set.
static bool read_variable(int *wanted, struct error *error) {
    const char *text = getenv("OMP_NUM_THREADS");
    char *end;
    *wanted = 0;
    if (!text) return true;
    const long value = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || value < 1 || value > most_threads)
        return error_set(error, "OMP_NUM_THREADS: \"%.40s\"; allowed: an integer from 1 to %d", text,
                         most_threads);
    *wanted = (int)value;
    return true;
}

bool layout_read(struct layout *layout, MPI_Comm world, int provided, struct error *error) {
    int wanted, fewest, most;
    MPI_Comm_size(world, &layout->ranks);
    read_variable(&wanted, error);
    if (!agree(world, error)) return false;
    omp_set_dynamic(0);
    layout->threads = wanted ? wanted : omp_get_max_threads();
    const int granted = build_threads(layout->threads);
    if (granted != layout->threads)
        error_set(error, "OMP_NUM_THREADS: %d; allowed: at most %d, which is what the system grants",
                  layout->threads, granted);
    if (provided < MPI_THREAD_FUNNELED && layout->threads > 1)
        error_set(error, "OMP_NUM_THREADS: %d; allowed: 1, since this MPI library has no thread support",
                  layout->threads);
    MPI_Allreduce(&layout->threads, &fewest, 1, MPI_INT, MPI_MIN, world);
    MPI_Allreduce(&layout->threads, &most, 1, MPI_INT, MPI_MAX, world);
    if (fewest != most)
        error_set(error, "OMP_NUM_THREADS: %d on one rank, %d on another; allowed: the same on all", fewest,
                  most);
    return agree(world, error);
}

double layout_memory(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

bool layout_fits(MPI_Comm world, const struct description *description, const struct placement *placement,
                 const struct schedule *schedule, struct error *error) {
    const double memory = layout_memory(), gib = exp2(30);
    int rank;
    MPI_Comm node;
    MPI_Comm_rank(world, &rank);
    if (time_is_simulated)
        MPI_Comm_dup(world, &node); // all ranks are on this machine
    else
        MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    struct estimate estimate = estimate_rank(description, placement, schedule, rank);
    double own = estimate_sum(&estimate), needed;
    MPI_Allreduce(&own, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    if (needed > memory)
        error_set(error,
                  "network: %.3g GiB on this node; allowed: at most its memory, %.3g GiB (see --explain)",
                  needed / gib, memory / gib);
    return agree(world, error);
}
