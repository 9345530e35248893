/// \file
/// An exchange with ranks that do not exist. In a dry run, words that were made up beforehand are copied into
/// the receive buffer, together with what the rank sends to itself, in the order of the ranks that would send
/// them.
///
/// Only ranks that send something cost time, since a rank of a large machine hears from few of them in a
/// window. It is no back-end that a description can name, and nothing leaves.

#pragma once

#include "transport/exchange.h"

/// What other ranks send in a window: the words of all of them, one rank after the other.
struct made_up_words {
    const uint32_t *words; ///< borrowed, as the runs
    const struct made_up_run {
        int rank;       ///< ascending, never the own one
        uint32_t count; ///< words, at least one
    } * run;            ///< [runs]
    size_t runs;        ///< ranks that send something
};

/// Opens the exchange of rank `own` of so many ranks, with words from so many of them at most. Close it with
/// exchange_close().
struct exchange *made_up_open(int ranks, int own, int sources);

/// Says what the next exchange_start() is to copy. It must stay until then.
void made_up_expect(struct exchange *exchange, struct made_up_words words);

/// Returns the words copied so far.
uint64_t made_up_copied(const struct exchange *exchange);
