#include "run/lane_nodes.h"

#include "transport/grid.h"
#include <stdio.h>

/// Refuses a back-end between nodes. `level` is 0 for that of the whole lane. Collective over `comm`.
static void check(const struct exchange_backend *backend, int level, const char *lane, MPI_Comm comm,
                  struct error *error) {
    MPI_Comm node;
    int here, ranks;
    char where[40] = "";
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_free(&node);
    if (level > 0) snprintf(where, sizeof where, "level %d of ", level);
    if (here < ranks && !error_stands(error))
        error_set(error,
                  "exchange: \"%s\" for %slane %s, of which only %d of %d ranks are on one node; allowed: an "
                  "exchange between nodes",
                  backend->name, where, lane, here, ranks);
}

void lane_check_nodes(const struct lane_plan *plan, MPI_Comm comm, struct error *error) {
    const struct exchange_backend *backend = plan->exchange.backend;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (backend->one_node) check(backend, 0, plan->name, comm, error);
    const struct grid grid = grid_of(&plan->exchange.levels, ranks, rank);
    for (int level = 0; level < grid.levels.n; level++)
        for (int round = 0; grid.levels.part[level]->one_node && round < grid_rounds(&grid, level); round++) {
            const struct grid_line line = grid_line(&grid, level, round);
            MPI_Comm own;
            MPI_Comm_split(comm, line.name >= 0 ? line.name : MPI_UNDEFINED, grid.own, &own);
            if (line.name < 0) continue;
            check(grid.levels.part[level], level + 1, plan->name, own, error);
            MPI_Comm_free(&own);
        }
}
