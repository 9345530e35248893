/// \file
/// The exchange of spikes between the ranks of a communicator.
///
/// A back-end is one file under exchange/ that exports one `const struct exchange_backend`, and one line in
/// exchange.c. A lane fills an outbox during a window. It calls start() at its end, finish() when the spikes
/// are due, and progress() now and then in between. A blocking back-end does all its work in finish().
///
/// start() and finish() are collective over the communicator, and one thread makes all calls. An MPI error
/// ends the program (by the communicator's error handler), so nothing here returns one.

#ifndef TRANSPORT_EXCHANGE_H
#define TRANSPORT_EXCHANGE_H

#include "base/error.h"
#include "base/registry.h"
#include "transport/inbox.h"
#include "transport/levels.h"
#include "transport/outbox.h"
#include "transport/traffic.h"
#include <mpi.h>

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
    struct inbox inbox;       ///< valid from finish() until the next start()
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

/// Returns the back-end of that name, or NULL.
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

#endif
