/// \file
/// Messages between two ranks, at most one in a window, received from any source as they come. p2p and sparse
/// have this in common; they differ in when a window is complete. Their memory follows the partners.

#ifndef TRANSPORT_EXCHANGE_MESSAGES_H
#define TRANSPORT_EXCHANGE_MESSAGES_H

#include "transport/exchange.h"
#include "transport/exchange/arena.h"
#include <stdbool.h>

struct messages {
    int n_targets, *targets; ///< [n_targets] ranks, ascending
    int n_sources;
    struct arena arrived;  ///< the words of this window, the own ones included
    MPI_Request *sends;    ///< [n_targets] of this window
    MPI_Request *receives; ///< [n_sources] of this window
    int n_sends, n_receives;
};

/// Opens messages between the partners of the exchange.
void messages_open(struct messages *messages, const struct exchange *exchange);

/// Begins a window: afterwards no message is under way, and all runs of the inbox are empty except that of
/// the own words.
void messages_begin(struct messages *messages, struct exchange *exchange, const struct outbox *outbox);

/// Sends what the outbox holds for a rank. `send` is MPI_Isend or MPI_Issend.
typedef int messages_send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
void messages_send(struct messages *messages, struct exchange *exchange, const struct outbox *outbox, int to,
                   int tag, messages_send_function *send);

/// Begins to receive a message with that tag, if one is there. Its words are in the inbox after
/// messages_end(). \return whether there was one.
bool messages_receive(struct messages *messages, struct exchange *exchange, int tag);

/// Says whether the receivers have all messages that were sent or, with MPI_Isend, whether the outbox is
/// free.
bool messages_sent(struct messages *messages);

/// Waits until all messages sent and received in this window are complete.
void messages_end(struct messages *messages);

/// Returns the bytes of all that messages_open() and the windows since have taken.
size_t messages_bytes(const struct messages *messages);
void messages_close(struct messages *messages);

#endif
