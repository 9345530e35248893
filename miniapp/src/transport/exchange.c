#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

extern const struct exchange_backend exchange_self, exchange_alltoall, exchange_alltoallv;

const struct exchange_backend *const exchange_backends[] = {&exchange_self, &exchange_alltoall,
                                                            &exchange_alltoallv, NULL};

const struct exchange_backend *exchange_find(const char *name) {
    for (const struct exchange_backend *const *backend = exchange_backends; *backend; backend++)
        if (strcmp((*backend)->name, name) == 0) return *backend;
    return NULL;
}

struct exchange *exchange_open(const struct exchange_backend *backend, MPI_Comm comm) {
    struct exchange *exchange = alloc_zero(1, backend->size);
    exchange->backend = backend;
    exchange->comm = comm;
    MPI_Comm_rank(comm, &exchange->rank);
    MPI_Comm_size(comm, &exchange->ranks);
    exchange->inbox.runs = exchange->ranks;
    exchange->inbox.run = ALLOC_ZERO(struct inbox_run, (size_t)exchange->ranks);
    if (backend->open) backend->open(exchange);
    return exchange;
}

void exchange_start(struct exchange *exchange, const struct outbox *outbox) {
    if (exchange->backend->start) exchange->backend->start(exchange, outbox);
}

void exchange_finish(struct exchange *exchange, const struct outbox *outbox) {
    exchange->backend->finish(exchange, outbox);
}

void exchange_close(struct exchange *exchange) {
    if (exchange->backend->close) exchange->backend->close(exchange);
    free(exchange->inbox.run);
    free(exchange);
}

void outbox_open(struct outbox *outbox, int ranks, uint32_t capacity) {
    *outbox = (struct outbox){.ranks = ranks, .capacity = capacity};
    outbox->count = ALLOC_ZERO(uint32_t, (size_t)ranks);
    outbox->words = ALLOC(uint32_t, (size_t)ranks * capacity);
}

void outbox_close(struct outbox *outbox) {
    free(outbox->count);
    free(outbox->words);
}

void outbox_clear(struct outbox *outbox) {
    memset(outbox->count, 0, (size_t)outbox->ranks * sizeof *outbox->count);
}

void outbox_grow(struct outbox *outbox) {
    uint32_t capacity = 2 * outbox->capacity;
    uint32_t *words = ALLOC(uint32_t, (size_t)outbox->ranks * capacity);
    for (size_t rank = 0; rank < (size_t)outbox->ranks; rank++)
        memcpy(words + rank * capacity, outbox->words + rank * outbox->capacity,
               outbox->count[rank] * sizeof *words);
    free(outbox->words);
    outbox->words = words;
    outbox->capacity = capacity;
}
