/// \file
/// As p2p, with the receives posted by start(), one for every source, so that nobody looks for messages: they
/// arrive while ranks compute, and finish() waits instead of polling.
///
/// A receive has room for a number of words that its two ranks agree on. More come in a second message, to
/// which both know that they must come; after such a window both grow the room, by the number of words that
/// both then know. Each rank receives one source's messages in the order in which they were sent, so windows
/// need no numbers.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { first_room = 64 }; // words
enum { tag_first, tag_rest };

/// What this rank shares with another one, in one direction.
struct link {
    int rank;
    uint32_t room;   ///< words of a first message at most; as many or more words: a second one follows
    uint32_t *words; ///< [room] received; NULL where this rank sends
};

struct posted {
    struct exchange common;
    int n_targets, n_sources;
    struct link *targets, *sources;
    MPI_Request *receives, *sends; ///< [n_sources], [2 n_targets] of this window
    int n_sends, arrived;          ///< the first `arrived` sources have sent their first message
    struct link own;               ///< words that need no message
};

static struct link *open_links(const int *ranks, int n, bool receives) {
    struct link *links = ALLOC(struct link, (size_t)n);
    for (int i = 0; i < n; i++)
        links[i] = (struct link){ranks[i], first_room, receives ? ALLOC(uint32_t, first_room) : NULL};
    return links;
}

static void open(struct exchange *exchange) {
    struct posted *x = (struct posted *)exchange;
    const struct partners *partners = &exchange->partners;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = open_links(partners->targets, x->n_targets, false);
    x->sources = open_links(partners->sources, x->n_sources, true);
    x->sends = ALLOC(MPI_Request, 2 * (size_t)x->n_targets);
    x->receives = ALLOC(MPI_Request, (size_t)x->n_sources);
}

/// Room for `count` words and one more, so that they are told from more than there is room for; what the old
/// room held is kept.
static void grow(struct link *link, uint32_t count) {
    const uint32_t before = link->room;
    while (link->room <= count) link->room *= 2;
    if (!link->words) return;
    uint32_t *words = ALLOC(uint32_t, link->room);
    memcpy(words, link->words, before * sizeof *words);
    free(link->words);
    link->words = words;
}

static void send(struct posted *x, struct link *link, const struct outbox *outbox) {
    const uint32_t count = outbox->count[link->rank], *words = outbox->words + (size_t)link->rank * outbox->capacity;
    const uint32_t first = count < link->room ? count : link->room;
    struct exchange *exchange = &x->common;
    MPI_Isend(words, (int)first, MPI_UINT32_T, link->rank, tag_first, exchange->comm, &x->sends[x->n_sends++]);
    exchange->traffic.messages += 1;
    exchange->traffic.bytes += count * sizeof *words;
    if (count < link->room) return;
    MPI_Isend(words + first, (int)(count - first), MPI_UINT32_T, link->rank, tag_rest, exchange->comm,
              &x->sends[x->n_sends++]);
    exchange->traffic.messages += 1;
    grow(link, count);
}

/// The own words, for which the inbox must not need the outbox.
static void keep_own(struct posted *x, const struct outbox *outbox) {
    const int rank = x->common.rank;
    const uint32_t count = outbox->count[rank];
    if (count > x->own.room) {
        free(x->own.words);
        x->own = (struct link){rank, 2 * count, ALLOC(uint32_t, 2 * (size_t)count)};
    }
    if (count) memcpy(x->own.words, outbox->words + (size_t)rank * outbox->capacity, count * sizeof *x->own.words);
    x->common.inbox.run[rank] = (struct inbox_run){x->own.words, count};
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct posted *x = (struct posted *)exchange;
    x->n_sends = x->arrived = 0;
    for (int i = 0; i < x->n_sources; i++)
        MPI_Irecv(x->sources[i].words, (int)x->sources[i].room, MPI_UINT32_T, x->sources[i].rank, tag_first,
                  exchange->comm, &x->receives[i]);
    for (int i = 0; i < x->n_targets; i++) send(x, &x->targets[i], outbox);
    keep_own(x, outbox);
}

/// Takes in the first message of the next source.
static void accept(struct posted *x, const MPI_Status *status) {
    const struct link *source = &x->sources[x->arrived++];
    int count;
    MPI_Get_count(status, MPI_UINT32_T, &count);
    x->common.inbox.run[source->rank] = (struct inbox_run){source->words, (size_t)count};
}

/// Looks at one source after the other: that one of them has not sent yet is found by a single test.
static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct posted *x = (struct posted *)exchange;
    (void)outbox;
    MPI_Status status;
    for (int there = 1; there && x->arrived < x->n_sources;) {
        MPI_Test(&x->receives[x->arrived], &there, &status);
        if (there) accept(x, &status);
    }
}

/// The words for which there was no room.
static void receive_rest(struct posted *x, struct link *source) {
    MPI_Status status;
    int rest;
    MPI_Probe(source->rank, tag_rest, x->common.comm, &status);
    MPI_Get_count(&status, MPI_UINT32_T, &rest);
    const uint32_t first = source->room;
    grow(source, first + (uint32_t)rest);
    MPI_Recv(source->words + first, rest, MPI_UINT32_T, source->rank, tag_rest, x->common.comm, MPI_STATUS_IGNORE);
    x->common.inbox.run[source->rank] = (struct inbox_run){source->words, first + (uint32_t)rest};
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct posted *x = (struct posted *)exchange;
    (void)outbox;
    while (x->arrived < x->n_sources) {
        MPI_Status status;
        MPI_Wait(&x->receives[x->arrived], &status);
        accept(x, &status);
    }
    for (int i = 0; i < x->n_sources; i++)
        if (exchange->inbox.run[x->sources[i].rank].count == x->sources[i].room) receive_rest(x, &x->sources[i]);
    MPI_Waitall(x->n_sends, x->sends, MPI_STATUSES_IGNORE);
}

static size_t bytes(const struct exchange *exchange) {
    const struct posted *x = (const struct posted *)exchange;
    size_t words = x->own.room;
    for (int i = 0; i < x->n_sources; i++) words += x->sources[i].room;
    return words * sizeof(uint32_t);
}

static void close(struct exchange *exchange) {
    struct posted *x = (struct posted *)exchange;
    for (int i = 0; i < x->n_sources; i++) free(x->sources[i].words);
    free(x->sources);
    free(x->targets);
    free(x->own.words);
    free(x->sends);
    free(x->receives);
}

const struct exchange_backend exchange_posted = {
    .name = "posted",
    .summary = "MPI_Isend to every target, receives posted for every source before",
    .size = sizeof(struct posted),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
