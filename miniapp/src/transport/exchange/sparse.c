/// \file
/// Sends messages only to ranks that get spikes in this window, and finds out by a non-blocking barrier when
/// it has ended: the algorithm NBX of Hoefler, Siebert and Lumsdaine (2010).
///
/// Sends are synchronous: they complete when the receiver has the message. A rank whose sends are all
/// complete enters the barrier and goes on receiving. When the barrier is complete, no message of the window
/// is under way. A faster rank may already send messages of the next window, but not of the one after it,
/// whose end needs everybody. So two tags, used in turns, are enough.

#include "transport/exchange/late_barrier.h"
#include "transport/exchange/messages.h"

enum { barrier_tag = 2 }; // messages have 0 and 1

struct sparse {
    struct exchange common;
    struct messages messages;
    int tag;
    struct late_barrier barrier;
    bool entered, complete;
};

static void open(struct exchange *exchange) {
    struct sparse *x = (struct sparse *)exchange;
    messages_open(&x->messages, exchange);
    exchange->connections = x->messages.n_targets;
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct sparse *x = (struct sparse *)exchange;
    x->tag = !x->tag;
    x->entered = x->complete = false;
    messages_begin(&x->messages, exchange, outbox);
    for (int i = 0; i < x->messages.n_targets; i++)
        if (outbox_count(outbox, x->messages.targets[i]))
            messages_send(&x->messages, exchange, outbox, x->messages.targets[i], x->tag, MPI_Issend);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct sparse *x = (struct sparse *)exchange;
    (void)outbox;
    if (x->complete) return;
    while (messages_receive(&x->messages, exchange, x->tag)) {
    }
    if (x->entered) {
        x->complete = late_barrier_test(&x->barrier);
    } else if (messages_sent(&x->messages)) {
        late_barrier_enter(&x->barrier, exchange->comm, barrier_tag);
        x->entered = true;
    }
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct sparse *x = (struct sparse *)exchange;
    while (!x->complete) progress(exchange, outbox);
    messages_end(&x->messages);
}

static size_t bytes(const struct exchange *exchange) {
    return messages_bytes(&((const struct sparse *)exchange)->messages);
}

static void close(struct exchange *exchange) {
    messages_close(&((struct sparse *)exchange)->messages);
}

const struct exchange_backend exchange_sparse = {
    .name = "sparse",
    .summary = "messages only to ranks that get spikes, ended by a non-blocking barrier (NBX)",
    .size = sizeof(struct sparse),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
