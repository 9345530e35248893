/// \file
/// Exchanges as p2p does, but without looking for messages: finish() receives one from every source and
/// waits for those that have not come yet. In simulated time, where each look costs more than a message,
/// this is much faster.
///
/// A first message has room for a number of words that its two ranks agree on. Further words come in a second
/// message, and both ranks know from the first that it comes. After such a window both make more room, by a
/// number of words that both know by then. Messages from one rank are received in the order in which they
/// were sent, so windows need no numbers. Messages that MPI does not send before they are received move in
/// finish() only.

#include "transport/communicator.h"
#include "transport/exchange/messages.h"
#include <string.h>

enum { tag_first, tag_rest };

/// Makes room for more than `count` words from the next window on.
static void grow(struct link *link, size_t count) {
    while (link->room <= count) link->room *= 2;
}

/// Sends a first message to every target, and a second one where the words do not fit it.
static void direct_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    messages_begin(x, send_buffer);
    for (int i = 0; i < x->n_targets; i++) {
        struct link *target = &x->targets[i];
        const uint32_t *words = send_buffer_words(send_buffer, target->rank);
        const uint32_t count = send_buffer_count(send_buffer, target->rank), room = target->room;
        messages_send(x, words, count < room ? count : room, target->rank, tag_first, MPI_Isend);
        if (count < room) continue;
        messages_send(x, words + room, count - room, target->rank, tag_rest, MPI_Isend);
        grow(target, count);
    }
}

/// Calls MPI, so that it works on what is under way. Nothing is received here.
static void direct_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    int there;
    (void)send_buffer;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_rest, exchange->comm, &there, MPI_STATUS_IGNORE);
}

/// Receives further words behind the `count` that have come, and adds all to the receive buffer.
static void receive_rest(struct messages *x, struct link *source, const uint32_t *first, int count) {
    MPI_Status status;
    int rest;
    MPI_Probe(source->rank, tag_rest, x->common.comm, &status);
    MPI_Get_count(&status, MPI_UINT32_T, &rest);
    const size_t all = (size_t)count + (size_t)rest;
    uint32_t *words = arena_take(&x->arrived, all);
    memcpy(words, first, (size_t)count * sizeof *words);
    MPI_Recv(words + count, rest, MPI_UINT32_T, source->rank, tag_rest, x->common.comm, MPI_STATUS_IGNORE);
    grow(source, all);
    receive_buffer_add(&x->common.receive_buffer, source->rank, words, all);
}

/// Receives a first message from every source, and a second one where the first is full.
static void direct_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    (void)send_buffer;
    for (int i = 0; i < x->n_sources; i++) {
        struct link *source = &x->sources[i];
        const int room = mpi_count(source->room, "words of a first message");
        uint32_t *words = arena_take(&x->arrived, source->room);
        MPI_Status status;
        int count;
        MPI_Recv(words, room, MPI_UINT32_T, source->rank, tag_first, x->common.comm, &status);
        MPI_Get_count(&status, MPI_UINT32_T, &count);
        if (count == room) {
            receive_rest(x, source, words, count);
            continue;
        }
        x->arrived.block->used -= (size_t)(room - count); // of the piece that was taken last
        receive_buffer_add(&x->common.receive_buffer, source->rank, words, (size_t)count);
    }
    messages_end(x);
}

const struct exchange_backend exchange_direct = {
    MESSAGES(direct),
    .summary = "MPI_Isend to every target, MPI_Recv from every source: nobody looks for messages",
};
