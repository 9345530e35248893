/// \file
/// Sends one message to every target in every window and receives from any source, as the point-to-point
/// communication of MUSIC does (Djurfeldt et al. 2010). A message may be empty: a window is complete when all
/// sources have sent theirs.
///
/// Ranks wait for their sources only. A rank without slow sources may be any number of windows ahead of its
/// targets, so the tag of a message is the number of its window.

#include "transport/exchange/messages.h"

struct p2p {
    struct exchange common;
    struct messages messages;
    int tag, last_tag; ///< of this window; after the last one comes 0
};

static void open(struct exchange *exchange) {
    struct p2p *x = (struct p2p *)exchange;
    int *last_tag, there;
    messages_open(&x->messages, exchange);
    exchange->connections = x->messages.n_targets;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last_tag, &there); // only the world has the attribute
    x->tag = x->last_tag = *last_tag;
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct p2p *x = (struct p2p *)exchange;
    x->tag = x->tag == x->last_tag ? 0 : x->tag + 1;
    messages_begin(&x->messages, exchange, outbox);
    for (int i = 0; i < x->messages.n_targets; i++)
        messages_send(&x->messages, exchange, outbox, x->messages.targets[i], x->tag, MPI_Isend);
}

/// Receives the messages that are there, up to what this window brings.
static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct p2p *x = (struct p2p *)exchange;
    (void)outbox;
    while (x->messages.n_receives < x->messages.n_sources &&
           messages_receive(&x->messages, exchange, x->tag)) {
    }
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct p2p *x = (struct p2p *)exchange;
    while (x->messages.n_receives < x->messages.n_sources) progress(exchange, outbox);
    messages_end(&x->messages);
}

static size_t bytes(const struct exchange *exchange) {
    return messages_bytes(&((const struct p2p *)exchange)->messages);
}

static void close(struct exchange *exchange) {
    messages_close(&((struct p2p *)exchange)->messages);
}

const struct exchange_backend exchange_p2p = {
    .name = "p2p",
    .summary = "MPI_Isend to every target, received from any source",
    .size = sizeof(struct p2p),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
