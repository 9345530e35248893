/// \file
/// An exchange with ranks that do not exist. In a dry run, words that were made up beforehand are copied into
/// the inbox, together with what the rank sends to itself, in the order of the ranks that would send them.
///
/// It is no back-end that a description can name, and nothing leaves.

#ifndef TRANSPORT_MADE_UP_H
#define TRANSPORT_MADE_UP_H

#include "transport/exchange.h"

/// Opens the exchange of rank `own` of so many ranks. Close it with exchange_close().
struct exchange *made_up_open(int ranks, int own);

/// Says what the next exchange_start() is to copy: a run of words from each rank [ranks], none from the own
/// one. They must stay until then.
void made_up_expect(struct exchange *exchange, const struct inbox_run *runs);

/// Returns the words copied so far.
uint64_t made_up_words(const struct exchange *exchange);

#endif
