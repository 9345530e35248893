/// \file
/// Exchanges as p2p does, but without looking for messages: finish() receives one from every source and waits
/// for those that have not come yet. In simulated time, where each look costs more than a message, this is
/// much faster.
///
/// A first message has room for a number of words that its two ranks agree on. Further words come in a second
/// message, and both ranks know from the first that it comes. After such a window both make more room, by a
/// number of words that both know by then. Messages from one rank are received in the order in which they
/// were sent, so windows need no numbers. Messages that MPI does not send before they are received move in
/// finish() only.

#include "transport/exchange.h"
#include "transport/exchange/arena.h"

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <stdlib.h>
#include <string.h>

enum { first_room = 64 }; // words
enum tag { tag_first, tag_rest };

/// The connection of this rank with another one, in one direction.
struct link {
    int rank;
    uint32_t room; ///< words of a first message at most; as many or more words: a second one follows
};

struct direct {
    struct exchange common;
    int n_targets, n_sources;
    struct link *targets, *sources;
    MPI_Request *sends; ///< [2 n_targets] of this window
    int n_sends;
    struct arena arrived; ///< the words of this window, the own ones included
};

static struct link *open_links(const int *ranks, int n) {
    struct link *links = ALLOC(struct link, (size_t)n);
    for (int i = 0; i < n; i++) links[i] = (struct link){ranks[i], first_room};
    return links;
}

static void open(struct exchange *exchange) {
    struct direct *x = (struct direct *)exchange;
    const struct partners *partners = &exchange->partners;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = open_links(partners->targets, x->n_targets);
    x->sources = open_links(partners->sources, x->n_sources);
    x->sends = ALLOC(MPI_Request, 2 * (size_t)x->n_targets);
}

/// Makes room for more than `count` words from the next window on.
static void grow(struct link *link, uint32_t count) {
    while (link->room <= count) link->room *= 2;
}

static void send_words(struct direct *x, const uint32_t *words, uint32_t count, int to, enum tag tag) {
    MPI_Isend(words, (int)count, MPI_UINT32_T, to, tag, x->common.comm, &x->sends[x->n_sends++]);
    x->common.traffic.messages += 1;
    x->common.traffic.bytes += count * sizeof *words;
}

static void send_to(struct direct *x, struct link *target, const struct outbox *outbox) {
    const uint32_t *words = outbox_words(outbox, target->rank);
    const uint32_t count = outbox_count(outbox, target->rank), room = target->room;
    send_words(x, words, count < room ? count : room, target->rank, tag_first);
    if (count < room) return;
    send_words(x, words + room, count - room, target->rank, tag_rest);
    grow(target, count);
}

/// Keeps a copy of the own words, since the inbox must not need the outbox.
static void keep_own(struct direct *x, const struct outbox *outbox) {
    const int rank = x->common.rank;
    const uint32_t count = outbox_count(outbox, rank);
    uint32_t *words = arena_take(&x->arrived, count);
    if (count) memcpy(words, outbox_words(outbox, rank), count * sizeof *words);
    x->common.inbox.run[rank] = (struct inbox_run){words, count};
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct direct *x = (struct direct *)exchange;
    x->n_sends = 0;
    arena_clear(&x->arrived);
    for (int i = 0; i < x->n_targets; i++) send_to(x, &x->targets[i], outbox);
    keep_own(x, outbox);
}

/// Looks for a message, which lets MPI work on what is under way.
static void progress(struct exchange *exchange, const struct outbox *outbox) {
    int there;
    (void)outbox;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_rest, exchange->comm, &there, MPI_STATUS_IGNORE);
}

/// Receives further words behind the `count` that have come. \return all of them.
static struct inbox_run receive_rest(struct direct *x, struct link *source, const uint32_t *first,
                                     int count) {
    MPI_Status status;
    int rest;
    MPI_Probe(source->rank, tag_rest, x->common.comm, &status);
    MPI_Get_count(&status, MPI_UINT32_T, &rest);
    const size_t all = (size_t)count + (size_t)rest;
    uint32_t *words = arena_take(&x->arrived, all);
    memcpy(words, first, (size_t)count * sizeof *words);
    MPI_Recv(words + count, rest, MPI_UINT32_T, source->rank, tag_rest, x->common.comm, MPI_STATUS_IGNORE);
    grow(source, (uint32_t)all);
    return (struct inbox_run){words, all};
}

static void receive_from(struct direct *x, struct link *source) {
    const uint32_t room = source->room;
    uint32_t *words = arena_take(&x->arrived, room);
    MPI_Status status;
    int count;
    MPI_Recv(words, mpi_count(room, "words of a first message"), MPI_UINT32_T, source->rank, tag_first,
             x->common.comm, &status);
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    struct inbox_run run = {words, (size_t)count};
    if ((uint32_t)count == room)
        run = receive_rest(x, source, words, count);
    else
        arena_give_back(&x->arrived, room - (uint32_t)count);
    x->common.inbox.run[source->rank] = run;
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct direct *x = (struct direct *)exchange;
    (void)outbox;
    for (int i = 0; i < x->n_sources; i++) receive_from(x, &x->sources[i]);
    MPI_Waitall(x->n_sends, x->sends, MPI_STATUSES_IGNORE);
}

static size_t bytes(const struct exchange *exchange) {
    const struct direct *x = (const struct direct *)exchange;
    return arena_bytes(&x->arrived) + (size_t)(x->n_targets + x->n_sources) * sizeof *x->targets +
           2 * (size_t)x->n_targets * sizeof *x->sends;
}

static void close(struct exchange *exchange) {
    struct direct *x = (struct direct *)exchange;
    arena_close(&x->arrived);
    free(x->sources);
    free(x->targets);
    free(x->sends);
}

const struct exchange_backend exchange_direct = {
    .name = "direct",
    .summary = "MPI_Isend to every target, MPI_Recv from every source: nobody looks for messages",
    .size = sizeof(struct direct),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
