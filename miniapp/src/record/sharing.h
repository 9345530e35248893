/// \file
/// Whether the ranks of a node have cores of their own.

#ifndef RECORD_SHARING_H
#define RECORD_SHARING_H

#include "record/nodes.h"
#include "record/tally.h"

/// Ranks that are bound to fewer cores than they have threads. Hardware threads of one core count once.
struct sharing {
    int n_ranks, threads, cores;
    int first, second; ///< two of the ranks, the lowest ones
};

/// Looks on one node for ranks that cannot have a core for each of their threads, whichever cores they take
/// of those that they may use. A rank that has more threads than cores by itself counts with its cores.
/// \param ranks [n_ranks] of the run. \return whether there are any; if so, *found tells of some of them.
bool sharing_find(struct sharing *found, const struct nodes *nodes, int node, const struct rank_tally *ranks,
                  int n_ranks, int threads);

#endif
