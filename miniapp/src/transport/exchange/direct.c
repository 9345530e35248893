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

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { first_room = 64 }; // words
enum tag { tag_first, tag_rest };

/// What this rank shares with another one, in one direction.
struct link {
    int rank;
    uint32_t room;   ///< words of a first message at most; as many or more words: a second one follows
    uint32_t *words; ///< [room] received; NULL where this rank sends
};

struct direct {
    struct exchange common;
    int n_targets, n_sources;
    struct link *targets, *sources;
    MPI_Request *sends; ///< [2 n_targets] of this window
    int n_sends;
    struct link own; ///< words that need no message
};

static struct link *open_links(const int *ranks, int n, bool receives) {
    struct link *links = ALLOC(struct link, (size_t)n);
    for (int i = 0; i < n; i++)
        links[i] = (struct link){ranks[i], first_room, receives ? ALLOC(uint32_t, first_room) : NULL};
    return links;
}

static void open(struct exchange *exchange) {
    struct direct *x = (struct direct *)exchange;
    const struct partners *partners = &exchange->partners;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = open_links(partners->targets, x->n_targets, false);
    x->sources = open_links(partners->sources, x->n_sources, true);
    x->sends = ALLOC(MPI_Request, 2 * (size_t)x->n_targets);
}

/// Makes room for more than `count` words. Those that have been received are kept.
static void grow(struct link *link, uint32_t count) {
    const uint32_t before = link->room;
    while (link->room <= count) link->room *= 2;
    if (!link->words) return;
    uint32_t *words = ALLOC(uint32_t, link->room);
    memcpy(words, link->words, before * sizeof *words);
    free(link->words);
    link->words = words;
}

static void send_words(struct direct *x, const uint32_t *words, uint32_t count, int to, enum tag tag) {
    MPI_Isend(words, (int)count, MPI_UINT32_T, to, tag, x->common.comm, &x->sends[x->n_sends++]);
    x->common.traffic.messages += 1;
    x->common.traffic.bytes += count * sizeof *words;
}

static void send_to(struct direct *x, struct link *target, const struct outbox *outbox) {
    const uint32_t *words = outbox->words + (size_t)target->rank * outbox->capacity;
    const uint32_t count = outbox->count[target->rank], room = target->room;
    send_words(x, words, count < room ? count : room, target->rank, tag_first);
    if (count < room) return;
    send_words(x, words + room, count - room, target->rank, tag_rest);
    grow(target, count);
}

/// Keeps a copy of the own words, since the inbox must not need the outbox.
static void keep_own(struct direct *x, const struct outbox *outbox) {
    const int rank = x->common.rank;
    const uint32_t count = outbox->count[rank];
    if (count > x->own.room) {
        free(x->own.words);
        x->own = (struct link){rank, 2 * count, ALLOC(uint32_t, 2 * (size_t)count)};
    }
    if (count)
        memcpy(x->own.words, outbox->words + (size_t)rank * outbox->capacity, count * sizeof *x->own.words);
    x->common.inbox.run[rank] = (struct inbox_run){x->own.words, count};
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct direct *x = (struct direct *)exchange;
    x->n_sends = 0;
    for (int i = 0; i < x->n_targets; i++) send_to(x, &x->targets[i], outbox);
    keep_own(x, outbox);
}

/// Looks for a message, which lets MPI work on what is under way.
static void progress(struct exchange *exchange, const struct outbox *outbox) {
    int there;
    (void)outbox;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_rest, exchange->comm, &there, MPI_STATUS_IGNORE);
}

static void receive_from(struct direct *x, struct link *source) {
    MPI_Comm comm = x->common.comm;
    MPI_Status status;
    int count, rest = 0;
    MPI_Recv(source->words, mpi_count(source->room, "words of a first message"), MPI_UINT32_T, source->rank,
             tag_first, comm, &status);
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    if ((uint32_t)count == source->room) {
        MPI_Probe(source->rank, tag_rest, comm, &status);
        MPI_Get_count(&status, MPI_UINT32_T, &rest);
        grow(source, (uint32_t)count + (uint32_t)rest);
        MPI_Recv(source->words + count, rest, MPI_UINT32_T, source->rank, tag_rest, comm, MPI_STATUS_IGNORE);
    }
    x->common.inbox.run[source->rank] = (struct inbox_run){source->words, (size_t)count + (size_t)rest};
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct direct *x = (struct direct *)exchange;
    (void)outbox;
    for (int i = 0; i < x->n_sources; i++) receive_from(x, &x->sources[i]);
    MPI_Waitall(x->n_sends, x->sends, MPI_STATUSES_IGNORE);
}

static size_t bytes(const struct exchange *exchange) {
    const struct direct *x = (const struct direct *)exchange;
    size_t words = x->own.room;
    for (int i = 0; i < x->n_sources; i++) words += x->sources[i].room;
    return words * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    struct direct *x = (struct direct *)exchange;
    for (int i = 0; i < x->n_sources; i++) free(x->sources[i].words);
    free(x->sources);
    free(x->targets);
    free(x->own.words);
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
