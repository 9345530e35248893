/// \file
/// How words travel between ranks: outboxes, exchanges, inboxes.
#pragma once

#include "base/error.h"
#include "base/spike.h"
#include <mpi.h>

static inline int comm_rank(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static inline int comm_size(MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

/// Lets all ranks agree on whether there is an error, so that all end alike and one line is printed: all take
/// over the error of the lowest rank that has one. Collective. \return whether there is none.
bool agree(MPI_Comm comm, struct error *error);

// -------------------- mailbox

/// Returns the number as an int, as MPI takes counts. Where it is too large, the program ends (fatal()) with
/// one line that says `what` is counted.
int mpi_count(uint64_t number, const char *what);

/// Returns the sum of n counts, none of which is negative.
uint64_t mpi_sum(const int *count, int n);

/// Places n blocks of that many items one after the other; start[i] becomes the place of block i. Where the
/// blocks together are too large, the program ends as by mpi_count(). \return the sum.
uint64_t mpi_starts(const int *count, int n, int *start, const char *what);

// -------------------- inbox
// Delivery fetches lists ahead within a run of words, so the first lists of every run cost the full latency
// of the memory. Among many ranks, runs hold a word or less: a list of 23 synapses then took 270 ns, and
// takes 54 ns where runs are joined. Where the runs lie one after the other already, delivery takes them as
// one.

/// The words that a rank has received in a window: one run for each source rank that sent some, the own one
/// included, in any order of ranks. So what a window costs follows the ranks that send in it.
struct inbox {
    int runs;
    struct inbox_run {
        const uint32_t *words;
        uint32_t count; ///< never 0
        int from;       ///< source rank
    } * run;            ///< [room]
    int room;
    size_t words;             ///< in all runs
    const uint32_t *together; ///< all words, where the runs lie one after the other; else NULL
};

void inbox_open(struct inbox *inbox, int sources);
void inbox_close(struct inbox *inbox);

static inline size_t inbox_bytes(const struct inbox *inbox) {
    return (size_t)inbox->room * sizeof *inbox->run;
}

static inline void inbox_clear(struct inbox *inbox) {
    inbox->runs = 0;
    inbox->words = 0;
    inbox->together = NULL;
}

/// Adds what a rank sent, at most once for each rank and window. No words make no run; what is beyond the
/// sources is dropped, since only damaged data can hold it.
static inline void inbox_add(struct inbox *inbox, int from, const uint32_t *words, size_t count) {
    if (count == 0 || inbox->runs == inbox->room) return;
    if (inbox->runs == 0)
        inbox->together = words;
    else if (inbox->together && inbox->together + inbox->words != words)
        inbox->together = NULL;
    inbox->run[inbox->runs++] = (struct inbox_run){words, (uint32_t)count, from};
    inbox->words += count;
}

/// Returns the run of a rank, an empty one where it sent nothing. It searches: for tests.
static inline struct inbox_run inbox_from(const struct inbox *inbox, int rank) {
    for (int i = 0; i < inbox->runs; i++)
        if (inbox->run[i].from == rank) return inbox->run[i];
    return (struct inbox_run){.from = rank};
}

/// A single run of words, in memory of its own.
struct joined {
    uint32_t *words; ///< [capacity]
    size_t capacity;
};

/// Says whether the runs are so short that joining them takes less time than delivering each on its own.
bool inbox_is_scattered(const struct inbox *inbox);

void joined_reserve(struct joined *joined, size_t words);
void joined_copy(struct joined *joined, const struct inbox *inbox); ///< all runs, in their order
void joined_close(struct joined *joined);

// -------------------- outbox

/// The words that a lane sends in a window (base/spike.h), kept apart for each destination. For a broadcast,
/// one destination stands for all.
///
/// All words lie in one pool, as MPI_Alltoallv takes them. A destination has room in it from its first word
/// on, and its room doubles on its own. So the memory follows what is written, apart from outbox_place_bytes
/// for each destination. Only add words by the functions below, and only read them by those; a pointer or
/// place is valid until the next word is added.
struct outbox {
    int ranks;     ///< destinations
    int n_to, *to; ///< [n_to] destinations that may get words; what a window costs follows them
    struct outbox_room {
        uint32_t next, end; ///< places in `words`: of the next word, and the end of the room
    } * room;               ///< [ranks]
    uint32_t *start;        ///< [ranks] place of the first word
    uint32_t *words;        ///< [capacity] the pool
    uint32_t capacity;      ///< words; grows, never shrinks
    uint32_t used;          ///< words of the pool that are room, or were before the room moved
};

enum {
    outbox_first_room = 16, ///< words: a cache line, so that each room begins on a line of its own
    outbox_place_bytes = sizeof(struct outbox_room) + sizeof(uint32_t) ///< of a destination without words
};

/// Opens it for words to all destinations, or only to some of them, each named once.
void outbox_open(struct outbox *outbox, int ranks);
void outbox_open_some(struct outbox *outbox, int ranks, const int *to, int n_to);
void outbox_close(struct outbox *outbox);

void outbox_clear(struct outbox *outbox); ///< forgets the spikes and keeps the room

/// Makes room for `more` further words of a destination. This is kept apart from the common path of
/// outbox_add(). Ends the program where all room together is more than MPI can count.
void outbox_grow(struct outbox *outbox, int destination, size_t more);

static inline void outbox_add(struct outbox *outbox, int destination, uint32_t word) {
    struct outbox_room *room = &outbox->room[destination];
    if (room->next == room->end) outbox_grow(outbox, destination, 1);
    outbox->words[room->next++] = word;
}

/// Adds a run of `count` words, which lie outside this outbox.
void outbox_append(struct outbox *outbox, int destination, const uint32_t *words, size_t count);

static inline uint32_t outbox_count(const struct outbox *outbox, int destination) {
    return outbox->room[destination].next - outbox->start[destination];
}

/// Returns the words for a destination; not NULL even where there are none.
static inline const uint32_t *outbox_words(const struct outbox *outbox, int destination) {
    return outbox->words + outbox->start[destination];
}

/// Returns the place of the words for a destination in outbox->words, 0 where there are none.
int outbox_start(const struct outbox *outbox, int destination);

size_t outbox_bytes(const struct outbox *outbox); ///< of the pool and of the places

// -------------------- levels
// What an exchange is composed of: levels, each with an exchange of its own. The ranks stand in a grid. Its
// first dimension is the innermost one: ranks that are neighbours there are neighbours in the order of ranks.
// In level l, a rank exchanges with those that differ from it in dimension l only, its line. transport/grid.h
// says which way words go.

enum { levels_max = 8 };

/// The levels as they are asked for. A dimension of 0 leaves the grid to levels_resolve().
struct levels {
    int n;                                           ///< 0: the exchange is not composed
    int size[levels_max];                            ///< ranks of a line, innermost level first
    const struct exchange_backend *part[levels_max]; ///< the exchange within a line
    bool merge;    ///< a spike that several ranks behind a bridge need travels there once
    bool receiver; ///< the outermost level is crossed first, so that bridges are among the receivers
    const int
        *bridge; ///< [groups][ranks] member of a group that speaks to a position elsewhere; NULL: none; owned
    const int *position; ///< [2][ranks] position of each rank, rank at each position; NULL: the same; owned
    bool ragged;         ///< two levels, of which the last group may be smaller (the back-end two_level)
};

/// Returns the levels with the dimensions that they have on so many ranks. Ragged groups are as large as
/// asked for, or about the root of the ranks. Without dimensions, there are two levels, the inner one as
/// large as the largest divisor of the ranks up to their root.
struct levels levels_resolve(const struct levels *asked, int ranks);

/// What the levels of so many ranks own: its bytes, and freeing it. Copies of them only borrow it.
size_t levels_bytes(const struct levels *levels, int ranks);
void levels_close(struct levels *levels);

/// Returns the product of the dimensions; of one beyond INT_MAX, some number beyond it.
long long levels_ranks(const struct levels *levels);

// -------------------- traffic

/// Counts of what exchanges hand to MPI for other ranks.
struct traffic {
    uint64_t messages, bytes;
};

/// Of one level of an exchange that is composed of others. Words are those of spikes, without what the
/// exchange adds.
struct level_traffic {
    uint64_t connections; ///< ranks that this one sends messages to
    uint64_t messages, words, bytes;
};

/// Adds the counts, but takes the larger number of connections.
static inline void level_traffic_add(struct level_traffic *sum, const struct level_traffic *one) {
    if (one->connections > sum->connections) sum->connections = one->connections;
    sum->messages += one->messages;
    sum->words += one->words;
    sum->bytes += one->bytes;
}

// -------------------- exchange
// The exchange of spikes between the ranks of a communicator.
//
// A back-end is one file under exchange/ that exports one `const struct exchange_backend`, and one line in
// exchange.c. A lane fills an outbox during a window. It calls start() at its end, finish() when the spikes
// are due, and progress() now and then in between. A blocking back-end does all its work in finish().
//
// start() and finish() are collective over the communicator, and one thread makes all calls. An MPI error
// ends the program (by the communicator's error handler), so nothing here returns one.

/// The other ranks with which this one shares routes, ascending, without the own rank. No words for ranks
/// that are no targets are ever put into an outbox.
struct partners {
    int n_targets, n_sources;
    const int *targets, *sources; ///< [n_targets], [n_sources] ranks in the lane's communicator
    const struct fanout *fanout;  ///< of one that merges; stays for all its life. NULL: nothing is merged
};

/// Names a back-end and, where it is composed of others, those.
struct exchange_spec {
    const struct exchange_backend *backend;
    struct levels levels; ///< none unless backend->composed
};

/// The part that all back-ends have in common. Their own structs begin with it.
struct exchange {
    struct exchange_spec spec;
    MPI_Comm comm; ///< its own duplicate, so that messages of two exchanges cannot mix
    int rank, ranks;
    struct partners partners; ///< borrowed, valid during open() only
    int connections;          ///< ranks that this one sends messages to: all, unless open() says less
    struct inbox inbox;       ///< valid from finish() until the next start(), which clears it
    struct traffic traffic;   ///< since the exchange was opened, or lane_reset_counts()
    struct level_traffic level[levels_max]; ///< of a composed one; they add up to `traffic`
};

struct exchange_backend {
    const char *name;
    const char *summary; ///< one line for --list
    const char *absent;  ///< why this MPI library cannot serve it, one line for --list; NULL where it can
    int ranks_max;       ///< largest communicator it serves; 0 is any
    bool one_node;       ///< only between ranks that share memory
    bool broadcast; ///< every word goes to all ranks: the outbox has one destination, the receiver searches
    bool composed;  ///< moves its words by other exchanges, which are no broadcasts, level by level
    bool ragged;    ///< composed of two, and the last group may be smaller than the others
    size_t size;    ///< of the back-end's own struct
    size_t rank_bytes; ///< what bytes() counts for each rank, partner or not, as long as windows are small
    void (*open)(struct exchange *exchange); ///< after the common part is set; the rest is zero; may be NULL
    void (*start)(struct exchange *exchange, const struct outbox *outbox);    ///< may be NULL
    void (*progress)(struct exchange *exchange, const struct outbox *outbox); ///< not collective; may be NULL
    void (*finish)(struct exchange *exchange, const struct outbox *outbox); ///< the outbox is free afterwards
    size_t (*bytes)(const struct exchange *exchange);                       ///< of its buffers
    void (*close)(struct exchange *exchange); ///< frees what open() and later calls took; may be NULL
};

extern const struct exchange_backend *const exchange_backends[]; ///< all, ended by NULL

static inline const struct exchange_backend *exchange_find(const char *name) {
    return registry_find(exchange_backends, name);
}

/// Opens an exchange. Collective over `comm`, which is only duplicated.
struct exchange *exchange_open(const struct exchange_spec *spec, MPI_Comm comm,
                               const struct partners *partners);

/// Returns how many destinations an outbox for this back-end has: the ranks, or one for a broadcast.
static inline int exchange_destinations(const struct exchange_backend *backend, int ranks) {
    return backend->broadcast ? 1 : ranks;
}

/// The outbox must not change between start() and the end of finish().
void exchange_start(struct exchange *exchange, const struct outbox *outbox);
void exchange_progress(struct exchange *exchange, const struct outbox *outbox);
void exchange_finish(struct exchange *exchange, const struct outbox *outbox);
size_t exchange_bytes(const struct exchange *exchange); ///< of its buffers and of the inbox
void exchange_close(struct exchange *exchange);

// -------------------- exchange_check
// Tests whether an exchange moves data with this MPI library. Some releases lose one-sided puts without an
// error, and a simulation would then only be wrong.

/// Returns the back-end with, where it is composed, two levels of alltoallv in a grid as square as can be.
struct exchange_spec exchange_plain(const struct exchange_backend *backend);

/// Moves some windows of known words through a fresh exchange of `comm`, from each rank to those 1, 2, 4, ...
/// further on. Collective. All ranks agree on a window before the next one begins, and small windows come
/// first, so most losses are found where no rank waits for what is lost.
/// \return false, with the same error on all ranks, if any rank did not receive exactly what was sent to it.
bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error);

// -------------------- wire
// Wire formats: the words that stand for a spike in an outbox. A lane needs to know one word of a spike
// (base/spike.h). It holds the step within the window and the list that the spike names at the receiver or,
// for a broadcast, the number of the neuron on its rank. `compact` sends just that. `aer12` sends what
// DPSNN's address-event representation has on the wire (Simula et al. 2019), twelve bytes a spike, so that
// the cost of the payload can be studied.

enum { wire_words_max = 3 };

struct wire_format {
    const char *name;
    const char *summary; ///< one line for --list
    int words;           ///< per spike; where they are several, the first two are neuron and step
    int at;              ///< which of them is the one that the lane needs
};

static inline void wire_pack(const struct wire_format *wire, uint32_t *words, uint32_t word, uint32_t gid,
                             uint32_t step) {
    if (wire->words > 1) {
        words[0] = gid;
        words[1] = step;
    }
    words[wire->at] = word;
}

extern const struct wire_format *const wire_formats[]; ///< all, ended by NULL
static inline const struct wire_format *wire_find(const char *name) {
    return registry_find(wire_formats, name);
}
