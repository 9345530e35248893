/// \file
/// Blocks of words, one for each rank: the counts and displacements that MPI_Alltoallv, MPI_Allgatherv and
/// their kin take, and the memory of what arrives.
///
/// Calls on all ranks take an entry for every rank, those on a graph of neighbours one for each neighbour, in
/// their order. `places` are these entries. Memory: 12 bytes for each rank or neighbour, and the words that
/// arrive.

#pragma once

#include "transport/receive_buffer.h"
#include "transport/word_buffer.h"
#include <stdbool.h>
#include <stddef.h>

/// Blocks of words that leave, straight from a send buffer, or that arrive, in one buffer.
struct rank_blocks {
    int n;                      ///< ranks they may go to or come from
    int *rank;                  ///< [n] which ranks these are
    bool by_rank;               ///< places are those of all ranks; else those of `rank`
    size_t places;              ///< the ranks, or n
    int *count;                 ///< [places] words
    int *displacement;          ///< [places] where they begin in the send buffer or in `arrived`, words
    struct word_buffer arrived; ///< words that have arrived; none where they leave
};

enum { counts_rank_bytes = 2 * sizeof(int) }; ///< of words to, and of words from, each rank

/// Opens blocks of `n` ranks (NULL: 0, 1, ...) and, unless it is negative, of `own`, with places for
/// `all_places` ranks or, where that is 0, for these only.
void rank_blocks_open(struct rank_blocks *blocks, const int *ranks, int n, int own, int all_places);

/// Places the words that arrive from the ranks, whose counts are set, one after the other and makes room for
/// all. What was there is lost. Ends the program where there are more than MPI can count.
void rank_blocks_make_room(struct rank_blocks *blocks);

/// Lets the receive buffer point at the words of each rank.
void rank_blocks_deliver(const struct rank_blocks *blocks, struct receive_buffer *receive_buffer);

/// Returns the bytes of the counts and of the words that have arrived.
size_t rank_blocks_bytes(const struct rank_blocks *blocks);
/// Frees them.
void rank_blocks_close(struct rank_blocks *blocks);
