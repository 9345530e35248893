#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>

extern const struct exchange_backend exchange_self, exchange_alltoall, exchange_alltoallv,
    exchange_ialltoallv, exchange_persistent, exchange_neighbor, exchange_ineighbor, exchange_p2p,
    exchange_direct, exchange_sparse, exchange_allgather, exchange_allgatherv, exchange_rma_doubling,
    exchange_rma_put, exchange_shared, exchange_two_level, exchange_multi_level;

const struct exchange_backend *const exchange_backends[] = {
    &exchange_self,         &exchange_alltoall,    &exchange_alltoallv,
    &exchange_ialltoallv,   &exchange_persistent,  &exchange_neighbor,
    &exchange_ineighbor,    &exchange_p2p,         &exchange_direct,
    &exchange_sparse,       &exchange_allgather,   &exchange_allgatherv,
    &exchange_rma_doubling, &exchange_rma_put,     &exchange_shared,
    &exchange_two_level,    &exchange_multi_level, NULL};

struct exchange *exchange_open(const struct exchange_spec *spec, MPI_Comm comm,
                               const struct partners *partners) {
    struct exchange *exchange = alloc_zero(1, spec->backend->size);
    exchange->spec = *spec;
    exchange->partners = *partners;
    MPI_Comm_dup(comm, &exchange->comm);
    MPI_Comm_rank(comm, &exchange->rank);
    MPI_Comm_size(comm, &exchange->ranks);
    exchange->inbox.runs = exchange->ranks;
    exchange->inbox.run = ALLOC_ZERO(struct inbox_run, (size_t)exchange->ranks);
    exchange->connections = exchange->ranks - 1;
    if (spec->backend->open) spec->backend->open(exchange);
    exchange->partners = (struct partners){0};
    return exchange;
}

size_t exchange_bytes(const struct exchange *exchange) {
    return exchange->spec.backend->bytes(exchange) +
           (size_t)exchange->inbox.runs * sizeof *exchange->inbox.run;
}

void exchange_start(struct exchange *exchange, const struct outbox *outbox) {
    if (exchange->spec.backend->start) exchange->spec.backend->start(exchange, outbox);
}

void exchange_progress(struct exchange *exchange, const struct outbox *outbox) {
    if (exchange->spec.backend->progress) exchange->spec.backend->progress(exchange, outbox);
}

void exchange_finish(struct exchange *exchange, const struct outbox *outbox) {
    exchange->spec.backend->finish(exchange, outbox);
}

void exchange_close(struct exchange *exchange) {
    if (exchange->spec.backend->close) exchange->spec.backend->close(exchange);
    MPI_Comm_free(&exchange->comm);
    free(exchange->inbox.run);
    free(exchange);
}
