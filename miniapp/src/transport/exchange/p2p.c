/// \file
/// Sends one message to every target in every window and receives from any source, as the point-to-point
/// communication of MUSIC does (Djurfeldt et al. 2010). A message may be empty: a window is complete when
/// all sources have sent theirs.
///
/// Ranks wait for their sources only. A rank without slow sources may be any number of windows ahead of its
/// targets, so the tag of a message is the number of its window.

#include "transport/exchange/messages.h"

/// Sends a message, perhaps an empty one, to every target.
static void p2p_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    x->tag = x->tag == x->last_tag ? 0 : x->tag + 1;
    messages_begin(x, send_buffer);
    for (int i = 0; i < x->n_targets; i++) {
        const int to = x->targets[i].rank;
        messages_send(x, send_buffer_words(send_buffer, to), send_buffer_count(send_buffer, to), to, x->tag,
                      MPI_Isend);
    }
}

/// Receives the messages that are there, up to what this window brings.
static void p2p_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    (void)send_buffer;
    while (x->n_receives < x->n_sources && messages_receive(x)) {
    }
}

/// Receives until there is a message from every source.
static void p2p_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct messages *x = (struct messages *)exchange;
    while (x->n_receives < x->n_sources) p2p_progress(exchange, send_buffer);
    messages_end(x);
}

const struct exchange_backend exchange_p2p = {
    MESSAGES(p2p),
    .summary = "MPI_Isend to every target, received from any source",
};
