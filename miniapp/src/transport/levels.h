/// \file
/// What an exchange composed of others is composed of: levels, each with an exchange of its own.
///
/// The ranks stand in a grid. Its first dimension is the innermost one: ranks that are neighbours there are
/// neighbours in the order of ranks. In level l, a rank exchanges with those that differ from it in dimension
/// l only, its line. transport/grid.h says which way words go.

#ifndef TRANSPORT_LEVELS_H
#define TRANSPORT_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

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

/// Returns the bytes of what the levels of so many ranks own.
size_t levels_bytes(const struct levels *levels, int ranks);

/// Frees what the levels own. Copies of them only borrow it.
void levels_close(struct levels *levels);

/// Returns the product of the dimensions.
long long levels_ranks(const struct levels *levels);

#endif
