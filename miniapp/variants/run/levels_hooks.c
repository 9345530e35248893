/// \file
/// Plugs composed exchanges into the core: what it has to know of them, and the tables by which spikes are
/// merged.

#include "description/field_table.h"
#include "schedule/choice_levels.h"
#include "transport/communicator.h"

#include "base/alloc.h"
#include "transport/exchange_check.h"
#include "transport/fanout.h"
#include "transport/grid.h"
#include <stdlib.h>

static const struct field_table *const field_tables[] = {&table_of_two_level, &table_of_multi_level, NULL};

/// Checks each line of the grid whose exchange needs shared memory. Collective over `comm`.
static void check_nodes(const struct lane_plan *plan, MPI_Comm comm, struct error *error) {
    const struct grid grid = grid_of(&plan->exchange.levels, comm_size(comm), comm_rank(comm));
    for (int level = 0; level < grid.levels.n; level++)
        for (int round = 0; grid.levels.part[level]->one_node && round < grid_rounds(&grid, level); round++) {
            const struct grid_line line = grid_line(&grid, level, round);
            MPI_Comm own;
            MPI_Comm_split(comm, line.name >= 0 ? line.name : MPI_UNDEFINED, grid.own, &own);
            if (line.name < 0) continue;
            exchange_check_node(grid.levels.part[level], plan->name, own, error);
            MPI_Comm_free(&own);
        }
}

/// Returns the ranks of the first line of a level and sets its exchange; 0 beyond the last level.
static int line_of_level(const struct levels *levels, int ranks, int level,
                         const struct exchange_backend **part) {
    const struct grid grid = grid_of(levels, ranks, 0);
    if (level >= grid.levels.n) return 0;
    *part = grid.levels.part[level];
    return grid_line(&grid, level, 0).ranks;
}

/// Closes and frees the tables.
static void close_fanout(struct fanout *fanout) {
    fanout_close(fanout);
    free(fanout);
}

/// Makes the tables of merged spikes; NULL after an error.
static struct fanout *open_fanout(const struct lane_plan *plan, struct spike_format format, MPI_Comm comm,
                                  int rank, struct routes *routes, int ranks, struct error *error) {
    struct fanout *fanout = ALLOC_ZERO(struct fanout, 1);
    fanout->format = format;
    fanout->wire = plan->wire;
    if (fanout_open(fanout, &plan->exchange.levels, comm, rank, routes, ranks, error)) return fanout;
    close_fanout(fanout);
    return NULL;
}

/// The fields that name an exchange.
static const char *const exchange_fields[] = {"exchange.two_level.inner", "exchange.two_level.outer",
                                              "exchange.multi_level.parts", NULL};

static const struct levels_hooks hooks = {.field_tables = field_tables,
                                          .exchange_fields = exchange_fields,
                                          .choose = choice_levels,
                                          .check_nodes = check_nodes,
                                          .line = line_of_level,
                                          .open_fanout = open_fanout,
                                          .fanout_bytes = fanout_bytes,
                                          .close_fanout = close_fanout};
const struct levels_hooks *const levels_hooks = &hooks;
