/// \file
/// What collectives with a count for each rank (MPI_Alltoallv and its kin) take or give.

#pragma once

#include "transport/exchange.h"

/// Words that leave, straight from an outbox, or that arrive, in one buffer.
struct parts {
    int n, *rank;       ///< [n] ranks they may go to or come from
    bool by_rank;       ///< places are those of all ranks; else those of `rank`
    size_t places;      ///< the ranks, or n
    int *count, *start; ///< [places] words, place in the outbox or in `arrived`
    struct joined arrived;
};

enum { counts_rank_bytes = 2 * sizeof(int) }; ///< of words to, and of words from, each rank

/// Opens parts of `n` ranks (NULL: 0, 1, ...) and, unless it is negative, of `own`, with places for
/// `all_places` ranks or, where that is 0, for these only.
void parts_open(struct parts *parts, const int *ranks, int n, int own, int all_places);

/// Places the words that arrive from the ranks, whose counts are set, one after the other and makes room for
/// all. What was there is lost. Ends the program where there are more than MPI can count.
void parts_make_room(struct parts *parts);

void parts_deliver(const struct parts *parts, struct inbox *inbox);

size_t parts_bytes(const struct parts *parts);
void parts_close(struct parts *parts);
