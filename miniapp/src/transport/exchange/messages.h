/// \file
/// What the exchanges have in common that consist of messages between two ranks, at most one or two in a
/// window: p2p, sparse and direct. They differ in how the words are received, and in when a window is
/// complete. Their memory follows the partners.

#pragma once

#include "transport/exchange.h"
#include "transport/exchange/arena.h"
#include "transport/exchange/late_barrier.h"

/// The connection of this rank with another one, in one direction.
struct link {
    int rank;      ///< in the lane's communicator
    uint32_t room; ///< of direct: words of a first message at most; as many or more: a second one follows
};

/// The state that the three back-ends share; `barrier`, `entered` and `complete` are of sparse only.
struct messages {
    struct exchange common;
    int n_targets, n_sources;       ///< partners in each direction
    struct link *targets, *sources; ///< ascending
    struct arena arrived;           ///< the words of this window, the own ones included
    MPI_Request *sends, *receives;  ///< [2 n_targets], [n_sources] of this window
    int n_sends, n_receives;        ///< requests of this window
    int tag, last_tag;              ///< of this window; after the last one comes 0
    struct late_barrier barrier;
    bool entered;  ///< of sparse: this rank has entered the barrier of the window
    bool complete; ///< of sparse: all ranks have
};

/// MPI_Isend or MPI_Issend.
typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/// Opens the connections with all partners.
void messages_open(struct exchange *exchange);

/// Returns the bytes of connections, requests and words that have arrived: bytes() of all three.
size_t messages_bytes(const struct exchange *exchange);

/// Frees them: close() of all three.
void messages_close(struct exchange *exchange);

/// Begins a window, in which no message is under way. The own words are copied, since the receive buffer must
/// not need the send buffer.
void messages_begin(struct messages *x, const struct send_buffer *send_buffer);

/// Begins to send words to a rank by `send`, MPI_Isend or MPI_Issend, and counts them. The words must stay
/// until messages_end().
void messages_send(struct messages *x, const uint32_t *words, uint32_t count, int to, int tag,
                   send_function *send);

/// Begins to receive a message of this window, if one is there. Its words are in the receive buffer after
/// messages_end(). \return whether there was one.
bool messages_receive(struct messages *x);

/// Waits until all messages sent and received in this window are complete.
void messages_end(struct messages *x);

/// The functions of a back-end of messages, of which start, progress and finish are its own.
#define MESSAGES(back_end)                                                                                   \
    .name = #back_end, .size = sizeof(struct messages), .open = messages_open, .start = back_end##_start,    \
    .progress = back_end##_progress, .finish = back_end##_finish, .bytes = messages_bytes,                   \
    .close = messages_close
