/// \file
/// Messages between two ranks, at most one or two in a window: p2p, sparse and direct. They differ in how the
/// words are received, and in when a window is complete. Their memory follows the partners.

#include "base/alloc.h"
#include "transport/exchange.h"
#include <stdlib.h>
#include <string.h>

// -------------------- arena
// Room for the words that arrive in a window, taken piece by piece and given back all at once. Its size
// follows the words of a window, however many ranks they come from.

/// In an arena set to zero there is no room yet.
struct arena {
    struct arena_block {
        size_t used, capacity;      ///< words
        struct arena_block *before; ///< full; NULL where one block was enough
        uint32_t words[];
    } * block;
    size_t capacity; ///< of all blocks
};

static void arena_close(struct arena *arena) {
    while (arena->block) {
        struct arena_block *before = arena->block->before;
        free(arena->block);
        arena->block = before;
    }
    arena->capacity = 0;
}

static void add_block(struct arena *arena, size_t words) {
    struct arena_block *block = alloc(sizeof *block + words * sizeof *block->words, 1);
    *block = (struct arena_block){.capacity = words, .before = arena->block};
    arena->block = block;
    arena->capacity += words;
}

/// Gives back all pieces. Where the last window needed several blocks, one as large as all takes their place.
static void arena_clear(struct arena *arena) {
    if (!arena->block) return;
    const size_t words = arena->capacity;
    if (arena->block->before) {
        arena_close(arena);
        add_block(arena, words);
    }
    arena->block->used = 0;
}

/// Returns a piece of `count` words, which stays where it is until arena_clear().
static uint32_t *arena_take(struct arena *arena, size_t count) {
    enum { first_capacity = 16 }; // words
    if (!arena->block || arena->block->capacity - arena->block->used < count) {
        const size_t least = arena->capacity < first_capacity ? first_capacity : arena->capacity;
        add_block(arena, 2 * count < least ? least : 2 * count);
    }
    uint32_t *piece = arena->block->words + arena->block->used;
    arena->block->used += count;
    return piece;
}

// -------------------- late_barrier
// A barrier that a rank enters and completes later, as MPI_Ibarrier is. In the build for SimGrid
// (SPIKEMARK_SIMULATED) it consists of messages, since in SimGrid's MPI_Ibarrier all ranks but the first go
// on at once.

struct late_barrier {
    MPI_Comm comm;
    MPI_Request requests[2]; ///< of messages; elsewhere the first is MPI's own
    int distance;            ///< of the ranks that send each other the present messages
};

enum { barrier_tag = 2 }; // messages of spikes have 0 and 1

#ifdef SPIKEMARK_SIMULATED

// The dissemination barrier (Hensgen, Finkel and Manber 1988): in each round a rank hears from twice as many.
static void begin_round(struct late_barrier *barrier) {
    const int ranks = comm_size(barrier->comm), rank = comm_rank(barrier->comm);
    const int from = (rank - barrier->distance + ranks) % ranks, to = (rank + barrier->distance) % ranks;
    MPI_Irecv(NULL, 0, MPI_BYTE, from, barrier_tag, barrier->comm, &barrier->requests[0]);
    MPI_Isend(NULL, 0, MPI_BYTE, to, barrier_tag, barrier->comm, &barrier->requests[1]);
}

/// Tells the other ranks that this one has come.
static void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm) {
    barrier->comm = comm;
    barrier->distance = 1;
    begin_round(barrier);
}

/// Says whether all ranks have entered, and works on it. Not to be called again after it was true.
static bool late_barrier_test(struct late_barrier *barrier) {
    int complete;
    MPI_Testall(2, barrier->requests, &complete, MPI_STATUSES_IGNORE);
    if (!complete) return false;
    const int ranks = comm_size(barrier->comm);
    barrier->distance *= 2;
    if (barrier->distance >= ranks) return true;
    begin_round(barrier);
    return false;
}

#else

static void late_barrier_enter(struct late_barrier *barrier, MPI_Comm comm) {
    MPI_Ibarrier(comm, &barrier->requests[0]);
}

static bool late_barrier_test(struct late_barrier *barrier) {
    int complete;
    MPI_Test(&barrier->requests[0], &complete, MPI_STATUS_IGNORE);
    return complete;
}

#endif

// -------------------- messages

/// The connection of this rank with another one, in one direction.
struct link {
    int rank;
    uint32_t room; ///< of direct: words of a first message at most; as many or more: a second one follows
};

struct messages {
    struct exchange common;
    int n_targets, n_sources;
    struct link *targets, *sources; ///< ascending
    struct arena arrived;           ///< the words of this window, the own ones included
    MPI_Request *sends, *receives;  ///< [2 n_targets], [n_sources] of this window
    int n_sends, n_receives;
    int tag, last_tag; ///< of this window; after the last one comes 0
    struct late_barrier barrier;
    bool entered, complete; ///< of sparse: the barrier
};

static struct link *open_links(const int *ranks, int n) {
    enum { first_room = 64 }; // words
    struct link *links = ALLOC(struct link, (size_t)n);
    for (int i = 0; i < n; i++) links[i] = (struct link){ranks[i], first_room};
    return links;
}

static void messages_open(struct exchange *exchange) {
    struct messages *x = (struct messages *)exchange;
    const struct partners *partners = &exchange->partners;
    int *last_tag, there;
    exchange->connections = x->n_targets = partners->n_targets;
    x->n_sources = partners->n_sources;
    x->targets = open_links(partners->targets, x->n_targets);
    x->sources = open_links(partners->sources, x->n_sources);
    x->sends = ALLOC(MPI_Request, 2 * (size_t)x->n_targets);
    x->receives = ALLOC(MPI_Request, (size_t)x->n_sources);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last_tag, &there); // only the world has the attribute
    x->tag = x->last_tag = *last_tag;
}

static size_t messages_bytes(const struct exchange *exchange) {
    const struct messages *x = (const struct messages *)exchange;
    const size_t targets = (size_t)x->n_targets, sources = (size_t)x->n_sources;
    return x->arrived.capacity * sizeof(uint32_t) + (targets + sources) * sizeof(struct link) +
           (2 * targets + sources) * sizeof(MPI_Request);
}

static void messages_close(struct exchange *exchange) {
    struct messages *x = (struct messages *)exchange;
    arena_close(&x->arrived);
    FREE(x->targets, x->sources, x->sends, x->receives);
}

/// Begins a window, in which no message is under way. The own words are copied, since the inbox must not need
/// the outbox.
static void messages_begin(struct messages *x, const struct outbox *outbox) {
    const int own = x->common.rank;
    const uint32_t count = outbox_count(outbox, own);
    x->n_sends = x->n_receives = 0;
    arena_clear(&x->arrived);
    uint32_t *words = arena_take(&x->arrived, count);
    if (count) memcpy(words, outbox_words(outbox, own), count * sizeof *words);
    inbox_add(&x->common.inbox, own, words, count);
}

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void messages_send(struct messages *x, const uint32_t *words, uint32_t count, int to, int tag,
                          send_function *send) {
    send(words, (int)count, MPI_UINT32_T, to, tag, x->common.comm, &x->sends[x->n_sends++]);
    x->common.traffic.messages += 1;
    x->common.traffic.bytes += count * sizeof *words;
}

/// Begins to receive a message of this window, if one is there. Its words are in the inbox after
/// messages_end(). \return whether there was one.
static bool messages_receive(struct messages *x) {
    MPI_Status status;
    int there, count;
    MPI_Iprobe(MPI_ANY_SOURCE, x->tag, x->common.comm, &there, &status); // no other thread can take it
    if (!there) return false;
    const int from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    uint32_t *words = arena_take(&x->arrived, (size_t)count);
    inbox_add(&x->common.inbox, from, words, (size_t)count);
    MPI_Irecv(words, count, MPI_UINT32_T, from, x->tag, x->common.comm, &x->receives[x->n_receives++]);
    return true;
}

/// Waits until all messages sent and received in this window are complete.
static void messages_end(struct messages *x) {
    MPI_Waitall(x->n_sends, x->sends, MPI_STATUSES_IGNORE);
    MPI_Waitall(x->n_receives, x->receives, MPI_STATUSES_IGNORE);
}

// -------------------- p2p
// Sends one message to every target in every window and receives from any source, as the point-to-point
// communication of MUSIC does (Djurfeldt et al. 2010). A message may be empty: a window is complete when all
// sources have sent theirs.
//
// Ranks wait for their sources only. A rank without slow sources may be any number of windows ahead of its
// targets, so the tag of a message is the number of its window.

static void p2p_start(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    x->tag = x->tag == x->last_tag ? 0 : x->tag + 1;
    messages_begin(x, outbox);
    for (int i = 0; i < x->n_targets; i++) {
        const int to = x->targets[i].rank;
        messages_send(x, outbox_words(outbox, to), outbox_count(outbox, to), to, x->tag, MPI_Isend);
    }
}

/// Receives the messages that are there, up to what this window brings.
static void p2p_progress(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    (void)outbox;
    while (x->n_receives < x->n_sources && messages_receive(x)) {
    }
}

static void p2p_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    while (x->n_receives < x->n_sources) p2p_progress(exchange, outbox);
    messages_end(x);
}

#define MESSAGES(back_end)                                                                                   \
    .name = #back_end, .size = sizeof(struct messages), .open = messages_open, .start = back_end##_start,    \
    .progress = back_end##_progress, .finish = back_end##_finish, .bytes = messages_bytes,                   \
    .close = messages_close

const struct exchange_backend exchange_p2p = {
    MESSAGES(p2p),
    .summary = "MPI_Isend to every target, received from any source",
};

// -------------------- sparse
// Sends messages only to ranks that get spikes in this window, and finds out by a non-blocking barrier when
// it has ended: the algorithm NBX of Hoefler, Siebert and Lumsdaine (2010).
//
// Sends are synchronous: they complete when the receiver has the message. A rank whose sends are all
// complete enters the barrier and goes on receiving. When the barrier is complete, no message of the window
// is under way. A faster rank may already send messages of the next window, but not of the one after it,
// whose end needs everybody. So two tags, used in turns, are enough.

static void sparse_start(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    x->tag = !x->tag;
    x->entered = x->complete = false;
    messages_begin(x, outbox);
    for (int i = 0; i < x->n_targets; i++) {
        const int to = x->targets[i].rank;
        const uint32_t count = outbox_count(outbox, to);
        if (count) messages_send(x, outbox_words(outbox, to), count, to, x->tag, MPI_Issend);
    }
}

static void sparse_progress(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    int sent;
    (void)outbox;
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

static void sparse_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    while (!x->complete) sparse_progress(exchange, outbox);
    messages_end(x);
}

const struct exchange_backend exchange_sparse = {
    MESSAGES(sparse),
    .summary = "messages only to ranks that get spikes, ended by a non-blocking barrier (NBX)",
};

// -------------------- direct
// Exchanges as p2p does, but without looking for messages: finish() receives one from every source and waits
// for those that have not come yet. In simulated time, where each look costs more than a message, this is
// much faster.
//
// A first message has room for a number of words that its two ranks agree on. Further words come in a second
// message, and both ranks know from the first that it comes. After such a window both make more room, by a
// number of words that both know by then. Messages from one rank are received in the order in which they
// were sent, so windows need no numbers. Messages that MPI does not send before they are received move in
// finish() only.

enum { tag_first, tag_rest };

/// Makes room for more than `count` words from the next window on.
static void grow(struct link *link, size_t count) {
    while (link->room <= count) link->room *= 2;
}

static void direct_start(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    messages_begin(x, outbox);
    for (int i = 0; i < x->n_targets; i++) {
        struct link *target = &x->targets[i];
        const uint32_t *words = outbox_words(outbox, target->rank);
        const uint32_t count = outbox_count(outbox, target->rank), room = target->room;
        messages_send(x, words, count < room ? count : room, target->rank, tag_first, MPI_Isend);
        if (count < room) continue;
        messages_send(x, words + room, count - room, target->rank, tag_rest, MPI_Isend);
        grow(target, count);
    }
}

static void direct_progress(struct exchange *exchange, const struct outbox *outbox) {
    int there;
    (void)outbox;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_rest, exchange->comm, &there, MPI_STATUS_IGNORE);
}

/// Receives further words behind the `count` that have come, and adds all to the inbox.
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
    inbox_add(&x->common.inbox, source->rank, words, all);
}

static void direct_finish(struct exchange *exchange, const struct outbox *outbox) {
    struct messages *x = (struct messages *)exchange;
    (void)outbox;
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
        inbox_add(&x->common.inbox, source->rank, words, (size_t)count);
    }
    messages_end(x);
}

const struct exchange_backend exchange_direct = {
    MESSAGES(direct),
    .summary = "MPI_Isend to every target, MPI_Recv from every source: nobody looks for messages",
};
