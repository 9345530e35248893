/// \file
/// What collectives with a count for each rank (MPI_Alltoallv and its kin) take and give.

#ifndef TRANSPORT_EXCHANGE_COUNTS_H
#define TRANSPORT_EXCHANGE_COUNTS_H

#include "transport/exchange.h"

/// The words that leave, straight from the outbox. They are valid while the outbox does not change.
struct departures {
    int n, *to;         ///< [n] ranks they go to
    int *count, *start; ///< [n] words, place in outbox->words
};

/// The words that arrive, in one buffer. A back-end sets the counts, and the buffer grows to hold them.
struct arrivals {
    int n, *from;       ///< [n] ranks they come from
    int *count, *start; ///< [n] words, place in `words`
    uint32_t *words;
    size_t capacity; ///< of `words`; grows, never shrinks
};

enum { counts_rank_bytes = 3 * sizeof(int) }; ///< of departures to, and of arrivals from, each rank

/// Returns a copy of `n` ranks, owned by the caller: what a back-end keeps of its partners.
int *ranks_copy(const int *ranks, int n);

/// Opens departures to and arrivals from all ranks, the own one included.
void departures_open_all(struct departures *departures, int ranks);
void arrivals_open_all(struct arrivals *arrivals, int ranks);

/// Opens departures to the targets only, and arrivals from the sources and, last, from the own rank, whose
/// words do not need MPI.
void departures_open_partners(struct departures *departures, const struct exchange *exchange);
void arrivals_open_partners(struct arrivals *arrivals, const struct exchange *exchange);

/// Returns the graph of the partners, in their order, for neighbourhood collectives. Collective; the caller
/// frees the communicator.
MPI_Comm partners_graph(struct departures *departures, struct arrivals *arrivals, MPI_Comm comm);

/// Takes the counts and places of what the outbox holds now. Ends the program where words lie at a place that
/// is more than MPI can count.
void departures_collect(struct departures *departures, const struct outbox *outbox);

/// Counts, for each other rank, one message of a size, and one of words where there are some.
void departures_count(const struct departures *departures, struct exchange *exchange);

/// Places the words of the ranks one after the other and makes room for all. What was there is lost. Ends the
/// program where there are more than MPI can count.
void arrivals_make_room(struct arrivals *arrivals);

/// These treat the words of the own rank, which stand last. The first sets their count, which must be known
/// before arrivals_make_room(); the second copies the words, afterwards.
void arrivals_count_own(struct arrivals *arrivals, const struct outbox *outbox, int own);
void arrivals_copy_own(struct arrivals *arrivals, const struct outbox *outbox, int own);

/// Lets the inbox point at the words that have arrived.
void arrivals_deliver(const struct arrivals *arrivals, struct inbox *inbox);

/// Return the bytes that they hold.
size_t departures_bytes(const struct departures *departures);
size_t arrivals_bytes(const struct arrivals *arrivals);

void departures_close(struct departures *departures);
void arrivals_close(struct arrivals *arrivals);

#endif
