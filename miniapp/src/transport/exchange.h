/// \file
/// Exchange of spikes between the ranks of a communicator.
///
/// A back-end is one file under exchange/, exporting one `const struct exchange_backend`, and one line in
/// exchange.c. A lane owns one outbox and one exchange. It fills the outbox during a window, and at its
/// end calls start() and finish(); a blocking back-end does all its work in one of the two.
///
/// All calls are collective over the communicator, and made by one thread. An MPI error ends the program (the
/// communicator's error handler), so nothing here returns one.

#ifndef TRANSPORT_EXCHANGE_H
#define TRANSPORT_EXCHANGE_H

#include "base/error.h"
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/// Spikes to send, as packed words (base/spike.h), apart for each destination.
struct outbox {
    int ranks;
    uint32_t capacity; ///< words per destination; grows, never shrinks
    uint32_t *count;   ///< [ranks] words to send
    uint32_t *words;   ///< [ranks][capacity]
};

void outbox_open(struct outbox *outbox, int ranks, uint32_t capacity);
void outbox_close(struct outbox *outbox);

/// Forgets the spikes, keeps the room.
void outbox_clear(struct outbox *outbox);

/// Doubles the capacity. Kept apart from the common path of outbox_add().
void outbox_grow(struct outbox *outbox);

static inline void outbox_add(struct outbox *outbox, int destination, uint32_t word) {
    if (outbox->count[destination] == outbox->capacity) outbox_grow(outbox);
    outbox->words[(size_t)destination * outbox->capacity + outbox->count[destination]++] = word;
}

/// Spikes received: one run of words per source rank, some of them empty.
struct inbox {
    int runs;
    struct inbox_run {
        const uint32_t *words;
        size_t count;
    } * run; ///< [runs]
};

/// What has been handed to MPI for other ranks since the exchange was opened.
struct traffic {
    uint64_t messages, bytes;
};

/// What all back-ends have in common; theirs begins with it.
struct exchange {
    const struct exchange_backend *backend;
    MPI_Comm comm; ///< borrowed
    int rank, ranks;
    struct inbox inbox; ///< valid from finish() until the next start()
    struct traffic traffic;
};

struct exchange_backend {
    const char *name;
    const char *summary;                     ///< one line for --list
    int ranks_max;                           ///< largest communicator it serves; 0 is any
    size_t size;                             ///< of the back-end's own struct
    void (*open)(struct exchange *exchange); ///< after the common part is set; the rest is zero; may be NULL
    void (*start)(struct exchange *exchange, const struct outbox *outbox);  ///< may be NULL
    void (*finish)(struct exchange *exchange, const struct outbox *outbox); ///< the outbox is free afterwards
    size_t (*bytes)(const struct exchange *exchange);                       ///< memory of its buffers
    void (*close)(struct exchange *exchange); ///< frees what open() and later calls took; may be NULL
};

/// All back-ends, ended by NULL.
extern const struct exchange_backend *const exchange_backends[];

/// The back-end of that name, or NULL.
const struct exchange_backend *exchange_find(const char *name);

struct exchange *exchange_open(const struct exchange_backend *backend, MPI_Comm comm);
void exchange_start(struct exchange *exchange, const struct outbox *outbox);
void exchange_finish(struct exchange *exchange, const struct outbox *outbox);
void exchange_close(struct exchange *exchange);

#endif
