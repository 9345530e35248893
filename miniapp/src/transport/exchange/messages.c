/// \file
/// Sends and receives the messages of a window, and waits for them.
///
/// messages_begin() opens a window, and puts the rank's own words into the receive buffer. Sends are left to
/// MPI until messages_end(). Words that arrive get a piece of the arena, whose address the receive buffer
/// keeps. Cost of a window: its messages; nothing depends on the number of all ranks.

#include "transport/exchange/messages.h"

#include "base/alloc.h"
#include <string.h>

/// Opens the connections with `n` ranks.
static struct link *open_links(const int *ranks, int n) {
    // Words of a first message of `direct`, before a partner needs more: 256 bytes, which any MPI library
    // sends without asking the receiver. It doubles when that is too little.
    enum { first_room = 64 };
    struct link *links = ALLOC(struct link, (size_t)n);
    for (int i = 0; i < n; i++) links[i] = (struct link){ranks[i], first_room};
    return links;
}

void messages_open(struct exchange *exchange) {
    struct messages *x = (struct messages *)exchange;
    const struct partners *partners = &exchange->partners;
    int *last_tag, there;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = open_links(partners->targets, x->n_targets);
    x->sources = open_links(partners->sources, x->n_sources);
    // direct may send two messages to a target.
    x->sends = ALLOC(MPI_Request, 2 * (size_t)x->n_targets);
    x->receives = ALLOC(MPI_Request, (size_t)x->n_sources);
    // p2p numbers its windows by tags, up to the largest that MPI has.
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last_tag, &there); // only the world has the attribute
    x->tag = x->last_tag = *last_tag;
}

size_t messages_bytes(const struct exchange *exchange) {
    const struct messages *x = (const struct messages *)exchange;
    const size_t targets = (size_t)x->n_targets, sources = (size_t)x->n_sources;
    return x->arrived.capacity * sizeof(uint32_t) + (targets + sources) * sizeof(struct link) +
           (2 * targets + sources) * sizeof(MPI_Request);
}

void messages_close(struct exchange *exchange) {
    struct messages *x = (struct messages *)exchange;
    arena_close(&x->arrived);
    FREE(x->targets, x->sources, x->sends, x->receives);
}

void messages_begin(struct messages *x, const struct send_buffer *send_buffer) {
    // The words of the last window have been delivered, so their room is free.
    const int own = x->common.rank;
    const uint32_t count = send_buffer_count(send_buffer, own);
    x->n_sends = x->n_receives = 0;
    arena_clear(&x->arrived);
    uint32_t *words = arena_take(&x->arrived, count);
    if (count) memcpy(words, send_buffer_words(send_buffer, own), count * sizeof *words);
    receive_buffer_add(&x->common.receive_buffer, own, words, count);
}

void messages_send(struct messages *x, const uint32_t *words, uint32_t count, int to, int tag,
                   send_function *send) {
    send(words, (int)count, MPI_UINT32_T, to, tag, x->common.comm, &x->sends[x->n_sends++]);
    x->common.traffic.messages += 1;
    x->common.traffic.bytes += count * sizeof *words;
}

bool messages_receive(struct messages *x) {
    MPI_Status status;
    int there, count;
    MPI_Iprobe(MPI_ANY_SOURCE, x->tag, x->common.comm, &there, &status); // no other thread can take it
    if (!there) return false;
    // A message is there: take room for it and receive it.
    const int from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    uint32_t *words = arena_take(&x->arrived, (size_t)count);
    receive_buffer_add(&x->common.receive_buffer, from, words, (size_t)count);
    MPI_Irecv(words, count, MPI_UINT32_T, from, x->tag, x->common.comm, &x->receives[x->n_receives++]);
    return true;
}

void messages_end(struct messages *x) {
    MPI_Waitall(x->n_sends, x->sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(x->n_receives, x->receives, MPI_STATUSES_IGNORE);
}
