/// \file
/// What collectives that take a count for each rank (MPI_Alltoallv and its kin) are given and give.

#ifndef TRANSPORT_EXCHANGE_COUNTS_H
#define TRANSPORT_EXCHANGE_COUNTS_H

#include "transport/exchange.h"

/// Words that leave, straight from the outbox. Valid while the outbox does not change.
struct departures {
    int n, *to;         ///< [n] ranks they go to
    int *count, *start; ///< [n] words, place in outbox->words
};

/// Words that arrive, in one buffer. A back-end puts the counts in and the buffer grows to what they say.
struct arrivals {
    int n, *from;       ///< [n] ranks they come from
    int *count, *start; ///< [n] words, place in `words`
    uint32_t *words;
    size_t capacity; ///< of `words`; grows, never shrinks
};

/// To and from all ranks, the own one included.
void departures_open_all(struct departures *departures, int ranks);
void arrivals_open_all(struct arrivals *arrivals, int ranks);

/// To the targets only; from the sources, and last the own rank, for whose words MPI is not needed.
void departures_open_partners(struct departures *departures, const struct exchange *exchange);
void arrivals_open_partners(struct arrivals *arrivals, const struct exchange *exchange);

/// The graph of the partners, in their order, for neighbourhood collectives; collective, to be freed.
MPI_Comm partners_graph(struct departures *departures, struct arrivals *arrivals, MPI_Comm comm);

/// Counts and places of what the outbox holds now.
void departures_collect(struct departures *departures, const struct outbox *outbox);

/// Counts one message of a size, and one of words where there are some, for each other rank.
void departures_count(const struct departures *departures, struct exchange *exchange);

/// Places one rank's words after the other's and makes room for all. What was there is lost.
void arrivals_make_room(struct arrivals *arrivals);

/// The own rank's words, which stand last: their count, to be known before arrivals_make_room(), and they
/// themselves, afterwards.
void arrivals_count_own(struct arrivals *arrivals, const struct outbox *outbox, int own);
void arrivals_copy_own(struct arrivals *arrivals, const struct outbox *outbox, int own);

/// Lets the inbox point at what has arrived.
void arrivals_deliver(const struct arrivals *arrivals, struct inbox *inbox);

void departures_close(struct departures *departures);
void arrivals_close(struct arrivals *arrivals);

#endif
