/// \file
/// What all back-ends have in common: their communicator, their receive buffer, their counts. The functions
/// here call those of the back-end where it has them.
///
/// A lane calls exchange_open() once for each of its transfers (run/lane.h); then, for each window,
/// exchange_start(), exchange_progress() any number of times, and exchange_finish(). The table of back-ends
/// is in core_only/exchanges.c, or in variants/transport/exchanges.c where the variants are linked.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>

struct exchange *exchange_open(const struct exchange_spec *spec, MPI_Comm comm,
                               const struct partners *partners) {
    // The struct of the back-end begins with the common part.
    struct exchange *exchange = alloc_zero(1, spec->backend->size);
    exchange->spec = *spec;
    exchange->partners = *partners;
    // Messages of other exchanges on the same ranks cannot be taken for ours.
    MPI_Comm_dup(comm, &exchange->comm);
    MPI_Comm_rank(comm, &exchange->rank);
    MPI_Comm_size(comm, &exchange->ranks);
    receive_buffer_open(&exchange->receive_buffer,
                        spec->backend->broadcast ? exchange->ranks : partners->n_sources + 1);
    exchange->connections = exchange->ranks - 1;
    if (spec->backend->open) spec->backend->open(exchange);
    // The lists of partners belong to the caller, so that nobody can use them later.
    exchange->partners = (struct partners){0};
    return exchange;
}

size_t exchange_bytes(const struct exchange *exchange) {
    return exchange->spec.backend->bytes(exchange) + receive_buffer_bytes(&exchange->receive_buffer);
}

void exchange_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    receive_buffer_clear(&exchange->receive_buffer);
    if (exchange->spec.backend->start) exchange->spec.backend->start(exchange, send_buffer);
}

void exchange_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    if (exchange->spec.backend->progress) exchange->spec.backend->progress(exchange, send_buffer);
}

void exchange_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    exchange->spec.backend->finish(exchange, send_buffer);
}

void exchange_close(struct exchange *exchange) {
    if (exchange->spec.backend->close) exchange->spec.backend->close(exchange);
    MPI_Comm_free(&exchange->comm);
    receive_buffer_close(&exchange->receive_buffer);
    free(exchange);
}
