/// \file
/// What collectives with a count for each rank (MPI_Alltoallv and its kin) take and give.

#ifndef TRANSPORT_EXCHANGE_COUNTS_H
#define TRANSPORT_EXCHANGE_COUNTS_H

#include "transport/exchange.h"
#include <stdbool.h>

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

/// An exchange of sizes, then of words, between all ranks or between partners. Back-ends add the calls of
/// MPI.
struct counted {
    struct exchange common;
    struct departures out;
    struct arrivals in;
    MPI_Comm comm;       ///< that of the exchange, or the graph of its partners, in their order
    MPI_Request request; ///< of the sizes, then of the words, where the calls do not block
    bool sizes_there;    ///< of this window
};

/// Open the exchange between all ranks, the own one included, or between partners. Collective.
void counted_open_all(struct exchange *exchange);
void counted_open_partners(struct exchange *exchange);

/// Makes room for the words of this window, whose sizes are there.
void counted_make_room(struct counted *counted, const struct outbox *outbox);

/// Lets the inbox point at the words that have arrived.
void counted_deliver(struct counted *counted, const struct outbox *outbox);

/// For calls that do not block: begin a window, send its words once the sizes are there, end it. Two calls
/// move sizes and words; both set `request`.
typedef void counted_call(struct counted *counted, const struct outbox *outbox);
void counted_start(struct exchange *exchange, const struct outbox *outbox, counted_call *sizes);
void counted_progress(struct exchange *exchange, const struct outbox *outbox, counted_call *words);
void counted_finish(struct exchange *exchange, const struct outbox *outbox, counted_call *words);

size_t counted_bytes(const struct exchange *exchange);
void counted_close(struct exchange *exchange);

enum { counts_rank_bytes = 3 * sizeof(int) }; ///< of departures to, and of arrivals from, each rank

/// Returns a copy of `n` ranks, owned by the caller: what a back-end keeps of its partners.
int *ranks_copy(const int *ranks, int n);

/// Opens arrivals from all ranks, the own one included.
void arrivals_open_all(struct arrivals *arrivals, int ranks);

/// Takes the counts and places of what the outbox holds now. Ends the program where words lie at a place that
/// is more than MPI can count.
void departures_collect(struct departures *departures, const struct outbox *outbox);

/// Counts, for each other rank, one message of a size, and one of words where there are some.
void departures_count(const struct departures *departures, struct exchange *exchange);

/// Places the words of the ranks one after the other and makes room for all. What was there is lost. Ends the
/// program where there are more than MPI can count.
void arrivals_make_room(struct arrivals *arrivals);

/// Lets the inbox point at the words that have arrived.
void arrivals_deliver(const struct arrivals *arrivals, struct inbox *inbox);

size_t arrivals_bytes(const struct arrivals *arrivals); ///< that they hold
void arrivals_close(struct arrivals *arrivals);

#endif
