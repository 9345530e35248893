/// \file
/// The exchange of spikes between the ranks of a communicator: the interface of all back-ends.
///
/// A back-end is one file under exchange/ that exports one `const struct exchange_backend`, and one line
/// in a table. A lane fills a send buffer during a window. It calls start() at its end, finish() when the
/// spikes are due, and progress() now and then in between. A blocking back-end does all its work in
/// finish(). What has arrived is then in the receive buffer.
///
/// What a back-end has to implement: finish() and bytes(); open() and close() if it has a state; and, if it
/// can overlap with computing, start() and progress() (struct exchange_backend). What finish() must have done
/// when it returns:
///
/// - receive_buffer_add() was called for each rank that sent words, with all of its words in one run. Words
///   of the own rank to itself come back like any others.
/// - The words lie in memory of the back-end until the next start(). They cannot lie in the send buffer,
///   which is the lane's: it is cleared right away.
/// - `traffic`, and `level` of a composed back-end, count what was handed to MPI for other ranks.
///
/// start() and finish() are collective over the communicator, and one thread makes all calls. An MPI
/// error ends the program (by the communicator's error handler), so nothing here returns one.
///
/// To add a back-end: write its file with a struct that begins with struct exchange, the functions that it
/// needs, and its entry; name it in CORE_EXCHANGES below or, outside the core, in VARIANT_EXCHANGES
/// (variants/transport/exchanges.c). The self-test of each run covers it from then on, and so do the tests of
/// exchanges and of invariance, which loop over the table: `ctest --test-dir build -R
/// '^test_(exchange|invariance)_3$'`. CONTRIBUTING.md says what the analysis needs to know of it.

#pragma once

#include "base/registry.h"
#include "transport/levels.h"
#include "transport/receive_buffer.h"
#include "transport/send_buffer.h"
#include "transport/traffic.h"
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/// The other ranks with which this one shares routes, ascending, without the own rank. A
/// back-end delivers the words of its own rank to itself all the same. No words for ranks
/// that are no targets are ever put into a send buffer.
struct partners {
    int n_targets;               ///< ranks to which this one may send words
    int n_sources;               ///< ranks from which words may come
    const int *targets;          ///< [n_targets] ranks in the lane's communicator; borrowed
    const int *sources;          ///< [n_sources] likewise
    const struct fanout *fanout; ///< of one that merges; stays for all its life. NULL: nothing is merged
};

/// Names a back-end and, where it is composed of others, those.
struct exchange_spec {
    const struct exchange_backend *backend; ///< of the whole
    struct levels levels;                   ///< none unless backend->composed
};

/// The part that all back-ends have in common. Their own structs begin with it.
struct exchange {
    struct exchange_spec spec; ///< by which it was opened
    MPI_Comm comm;             ///< its own duplicate, so that messages of two exchanges cannot mix
    int rank, ranks;           ///< of this process in `comm`, and its size
    struct partners partners;  ///< borrowed, valid during open() only
    int connections;           ///< ranks that this one sends messages to: all, unless open() says less
    struct receive_buffer receive_buffer;   ///< valid from finish() until the next start(), which clears it
    struct traffic traffic;                 ///< since the exchange was opened, or lane_reset_counts()
    struct level_traffic level[levels_max]; ///< of a composed one; they add up to `traffic`
};

/// A back-end: its properties, and its functions. Read alltoall.c first, it is the shortest; then counted.c.
struct exchange_backend {
    const char *name;    ///< as in a run description
    const char *summary; ///< one line for --list
    const char *absent;  ///< why this MPI library cannot serve it, one line for --list; NULL where it can
    int ranks_max;       ///< largest communicator it serves; 0 is any
    bool one_node;       ///< only between ranks that share memory
    bool broadcast;      ///< every word goes to all ranks: the send buffer has one destination, the receiver
                         ///< searches
    bool composed;       ///< moves its words by other exchanges, which are no broadcasts, level by level
    bool ragged;         ///< composed of two, and the last group may be smaller than the others
    size_t size;         ///< of the back-end's own struct
    size_t rank_bytes;   ///< bytes that open() allocates for each rank of the lane, also for one that is no
                         ///< partner; estimates of memory count with it (app/estimate.c)
    void (*open)(struct exchange *exchange); ///< after the common part is set; the rest is zero; may be NULL
    void (*start)(struct exchange *exchange, const struct send_buffer *send_buffer); ///< may be NULL
    void (*progress)(struct exchange *exchange,
                     const struct send_buffer *send_buffer); ///< not collective; may be NULL
    void (*finish)(struct exchange *exchange,
                   const struct send_buffer *send_buffer); ///< the send buffer is free afterwards
    size_t (*bytes)(const struct exchange *exchange);      ///< of its buffers
    void (*close)(struct exchange *exchange); ///< frees what open() and later calls took; may be NULL
};

// clang-format off
/// The names of the back-ends of the core, each of which is exchange_NAME.
#define CORE_EXCHANGES(E)                                                                                    \
    E(self) E(alltoall) E(alltoallv) E(ialltoallv) E(neighbor) E(ineighbor) E(p2p) E(direct) E(sparse)       \
    E(allgather) E(allgatherv)
// clang-format on
/// What such a list makes of each name: its declaration, and its entry in the table.
#define EXCHANGE_DECLARE(name) extern const struct exchange_backend exchange_##name;
#define EXCHANGE_ADDRESS(name) &exchange_##name,

extern const struct exchange_backend *const exchange_backends[]; ///< all, ended by NULL

/// Returns the back-end of that name; NULL where there is none.
static inline const struct exchange_backend *exchange_find(const char *name) {
    return registry_find(exchange_backends, name);
}

/// Opens an exchange, for one window at a time. Collective over `comm`, which is only duplicated. `partners`
/// is needed during the call only. \return it, owned by the caller; free it with exchange_close().
struct exchange *exchange_open(const struct exchange_spec *spec, MPI_Comm comm,
                               const struct partners *partners);

/// Returns how many destinations a send buffer for this back-end has: the ranks, or one for a broadcast.
static inline int exchange_destinations(const struct exchange_backend *backend, int ranks) {
    return backend->broadcast ? 1 : ranks;
}

/// Begins the exchange of a window: clears the receive buffer, and starts what does not block. The send
/// buffer belongs to the lane (run/lane.h), which opens, clears and frees it; it must not change until
/// finish() returns.
void exchange_start(struct exchange *exchange, const struct send_buffer *send_buffer);
/// Lets MPI work on an exchange that has been started; does nothing where the back-end blocks.
void exchange_progress(struct exchange *exchange, const struct send_buffer *send_buffer);
/// Completes the exchange: afterwards the words of all sources are in the receive buffer.
void exchange_finish(struct exchange *exchange, const struct send_buffer *send_buffer);
size_t exchange_bytes(const struct exchange *exchange); ///< of its buffers and of the receive buffer
/// Frees the exchange. Collective, since it has a communicator of its own.
void exchange_close(struct exchange *exchange);
