/// \file
/// Levels: what an exchange is composed of, each with an exchange of its own.
///
/// The ranks stand in a grid. Its first dimension is the innermost one: ranks that are neighbours there
/// are neighbours in the order of ranks. In level l, a rank exchanges with those that differ from it in
/// dimension l only, its line. transport/grid.h says which way words go.

#pragma once

#include "base/spike.h"
#include "description/field_table.h"
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct exchange_backend;

/// Levels at most: a grid of 2^8 ranks with two in each line has as many. More would add hops without saving
/// connections.
enum { levels_max = 8 };

/// The levels as they are asked for. A dimension of 0 leaves the grid to levels_resolve().
struct levels {
    int n;                                           ///< 0: the exchange is not composed
    int size[levels_max];                            ///< ranks of a line, innermost level first
    const struct exchange_backend *part[levels_max]; ///< the exchange within a line
    bool merge;    ///< a spike that several ranks behind a bridge need travels there once
    bool receiver; ///< the outermost level is crossed first, so that bridges are among the receivers
    const int
        *bridge; ///< [groups][ranks] member of a group that speaks to a position elsewhere; NULL: none; owned
    const int *position; ///< [2][ranks] position of each rank, rank at each position; NULL: the same; owned
    bool ragged;         ///< two levels, of which the last group may be smaller (the back-end two_level)
};

/// Returns the levels with the dimensions that they have on so many ranks. Ragged groups are as large as
/// asked for, or about the root of the ranks. Without dimensions, there are two levels, the inner one as
/// large as the largest divisor of the ranks up to their root.
struct levels levels_resolve(const struct levels *asked, int ranks);

/// What the levels of so many ranks own: its bytes, and freeing it. Copies of them only borrow it.
size_t levels_bytes(const struct levels *levels, int ranks);
void levels_close(struct levels *levels);

struct description;
struct error;
struct fanout;
struct field_table;
struct fields;
struct lane_plan;
struct routes;
struct wire_format;

/// What composed exchanges add to the core, where it is linked with them (variants/run/levels_hooks.c).
struct levels_hooks {
    const struct field_table *const *field_tables; ///< of what the description may say of them, ended by NULL
    const char *const *exchange_fields; ///< those fields that name an exchange, by their paths, ended by NULL
    /// Reads of what the exchange of a lane is composed. An exchange that is only named has no fields. Fails
    /// naming the field, and the lane or what would do. \param files {name: content} that the fields name.
    bool (*choose)(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                   struct error *error);
    /// Refuses parts that need shared memory between ranks of several nodes. Collective over `comm`; only
    /// some ranks may find the error.
    void (*check_nodes)(const struct lane_plan *lane, MPI_Comm comm, struct error *error);
    /// Returns the ranks of the first line in a level, and sets the exchange within it; 0 beyond the last
    /// level.
    int (*line)(const struct levels *levels, int ranks, int level, const struct exchange_backend **part);
    /// Makes the tables by which spikes are merged, and lets `routes` lead to where each goes first
    /// (variants/transport/fanout.h). \return NULL, with an error on all ranks, where a word cannot hold the
    /// number of a neuron.
    struct fanout *(*open_fanout)(const struct lane_plan *lane, struct spike_format format, MPI_Comm comm,
                                  int rank, struct routes *routes, int ranks, struct error *error);
    size_t (*fanout_bytes)(const struct fanout *fanout);
    void (*close_fanout)(struct fanout *fanout); ///< and frees it
};

extern const struct levels_hooks *const levels_hooks; ///< NULL without variants
