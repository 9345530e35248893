/// \file
/// Sends messages only to ranks that get spikes in this window, and finds out by a non-blocking barrier
/// when it has ended: the algorithm NBX of Hoefler, Siebert and Lumsdaine (2010).
///
/// Sends are synchronous: they complete when the receiver has the message. A rank whose sends are all
/// complete enters the barrier and goes on receiving. When the barrier is complete, no message of the window
/// is under way. A faster rank may already send messages of the next window, but not of the one after it,
/// whose end needs everybody. So two tags, used in turns, are enough.

#include "transport/exchange/messages.h"

/// Sends messages to those targets that get spikes.
static void sparse_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    x->tag = !x->tag;
    x->entered = x->complete = false;
    messages_begin(x, send_buffer);
    for (int i = 0; i < x->n_targets; i++) {
        const int to = x->targets[i].rank;
        const uint32_t count = send_buffer_count(send_buffer, to);
        if (count) messages_send(x, send_buffer_words(send_buffer, to), count, to, x->tag, MPI_Issend);
    }
}

/// Receives what is there. Enters the barrier once all sends are complete, then looks whether it is over.
static void sparse_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    int sent;
    (void)send_buffer;
    if (x->complete) return;
    while (messages_receive(x)) {
    }
    if (x->entered) {
        x->complete = late_barrier_test(&x->barrier);
        return;
    }
    MPI_Testall(x->n_sends, x->sends, &sent, MPI_STATUSES_IGNORE);
    if (!sent) return;
    late_barrier_enter(&x->barrier, exchange->comm);
    x->entered = true;
}

/// Goes on like that until the barrier is complete; then nothing is under way any more.
static void sparse_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    while (!x->complete) sparse_progress(exchange, send_buffer);
    messages_end(x);
}

const struct exchange_backend exchange_sparse = {
    MESSAGES(sparse),
    .summary = "messages only to ranks that get spikes, ended by a non-blocking barrier (NBX)",
};
