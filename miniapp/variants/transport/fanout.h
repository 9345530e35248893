/// \file
/// Merging: a spike that several ranks behind a bridge need travels to the bridge once.
///
/// Without merging, a word names a list of the rank that it is for. With it, a word on its way to a bridge
/// names the spike: it has the number that its neuron has at the bridge, among those of its rank whose spikes
/// come by. The bridge has a table which says where each of them goes on to, and under which number. In the
/// last hop a word names a list, as ever.
///
/// The tables are made once, hop by hop, from the routes, which then lead to where a spike goes first.

#pragma once

#include "base/spike.h"
#include "transport/grid.h"
#include "transport/routes.h"
#include "transport/wire.h"

/// Where a spike goes on to.
struct fanout_branch {
    uint32_t line;   ///< base[hop] + place in the line of that hop
    uint32_t number; ///< at the rank there: of the neuron, or in the last hop of the list
};

/// The tables of a rank.
struct fanout {
    struct grid grid;               ///< as it stands for this rank
    struct spike_format format;     ///< of words, which name spikes or lists
    const struct wire_format *wire; ///< of words; borrowed
    int base[levels_max +
             1]; ///< of the lines of each hop: places of a hop are base[hop] ... base[hop + 1] - 1
    uint32_t *first, *count; ///< [ranks] entries of the neurons of each rank, by its position
    size_t *start;           ///< [entries + 1] branches of entry i are branch[start[i]] up to [start[i + 1]]
    struct fanout_branch *branch;   ///< [branches] owned, as all arrays here
    size_t entries, branches;       ///< in use
    size_t start_room, branch_room; ///< for how many there is room while the tables are made
};

/// Makes the tables, and lets `routes` lead to the next rank of each spike. Collective over `comm`. In a dry
/// run `comm` is MPI_COMM_NULL: only the routes change. Fails, on all ranks alike, where a word cannot hold
/// the number of a neuron. Close it in any case.
bool fanout_open(struct fanout *fanout, const struct levels *levels, MPI_Comm comm, int rank,
                 struct routes *routes, int ranks, struct error *error);

/// Returns the entry that a word from the neurons of a rank names; NULL where there is none, since data got
/// lost. Its branches end before `end`.
const struct fanout_branch *fanout_find(const struct fanout *fanout, int source, const uint32_t *words,
                                        const struct fanout_branch **end);

/// Returns the bytes of the tables.
size_t fanout_bytes(const struct fanout *fanout);
/// Frees the tables, not the struct.
void fanout_close(struct fanout *fanout);
