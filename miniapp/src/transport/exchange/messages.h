/// \file
/// Messages between two ranks, at most one in a window, received from any source as they come. p2p and sparse
/// have this in common; they differ in when a window is complete.

#ifndef TRANSPORT_EXCHANGE_MESSAGES_H
#define TRANSPORT_EXCHANGE_MESSAGES_H

#include "transport/exchange.h"
#include <stdbool.h>

struct messages {
    struct message {
        uint32_t *words;
        size_t capacity;           ///< words; grows, never shrinks
    } * from;                      ///< [ranks] what each rank sent; the own words are copied there
    MPI_Request *sends, *receives; ///< [ranks] of this window
    int n_sends, n_receives;
};

void messages_open(struct messages *messages, int ranks);

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

size_t messages_bytes(const struct messages *messages, int ranks);
void messages_close(struct messages *messages, int ranks);

#endif
