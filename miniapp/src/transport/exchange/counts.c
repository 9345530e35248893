#include "transport/exchange/counts.h"

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <stdlib.h>
#include <string.h>

int *ranks_copy(const int *ranks, int n) {
    int *copy = ALLOC(int, (size_t)n);
    if (n) memcpy(copy, ranks, (size_t)n * sizeof *copy);
    return copy;
}

static void departures_open(struct departures *departures, int n) {
    size_t size = (size_t)n;
    *departures = (struct departures){n, ALLOC(int, size), ALLOC(int, size), ALLOC(int, size)};
}

static void arrivals_open(struct arrivals *arrivals, int n) {
    size_t size = (size_t)n;
    *arrivals = (struct arrivals){n, ALLOC(int, size), ALLOC(int, size), ALLOC(int, size), NULL, 0};
}

void arrivals_open_all(struct arrivals *arrivals, int ranks) {
    arrivals_open(arrivals, ranks);
    for (int rank = 0; rank < ranks; rank++) arrivals->from[rank] = rank;
}

void departures_collect(struct departures *departures, const struct outbox *outbox) {
    for (int i = 0; i < departures->n; i++) {
        const int rank = departures->to[i];
        departures->count[i] = (int)outbox_count(outbox, rank);
        departures->start[i] = outbox_start(outbox, rank);
    }
}

void departures_count(const struct departures *departures, struct exchange *exchange) {
    for (int i = 0; i < departures->n; i++) {
        if (departures->to[i] == exchange->rank) continue;
        exchange->traffic.messages += 1 + (departures->count[i] > 0);
        exchange->traffic.bytes += sizeof(int) + (size_t)departures->count[i] * sizeof(uint32_t);
    }
}

void arrivals_make_room(struct arrivals *arrivals) {
    const size_t total = mpi_starts(arrivals->count, arrivals->n, arrivals->start, "words that arrive");
    if (total <= arrivals->capacity) return;
    free(arrivals->words);
    arrivals->capacity = 2 * total;
    arrivals->words = ALLOC(uint32_t, arrivals->capacity);
}

void arrivals_deliver(const struct arrivals *arrivals, struct inbox *inbox) {
    for (int i = 0; i < arrivals->n; i++)
        inbox->run[arrivals->from[i]] =
            (struct inbox_run){arrivals->words + arrivals->start[i], (size_t)arrivals->count[i]};
}

size_t arrivals_bytes(const struct arrivals *arrivals) {
    return (size_t)arrivals->n * counts_rank_bytes + arrivals->capacity * sizeof *arrivals->words;
}

void arrivals_close(struct arrivals *arrivals) {
    free(arrivals->from);
    free(arrivals->count);
    free(arrivals->start);
    free(arrivals->words);
}

void counted_open_all(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    departures_open(&x->out, exchange->ranks);
    for (int rank = 0; rank < exchange->ranks; rank++) x->out.to[rank] = rank;
    arrivals_open_all(&x->in, exchange->ranks);
    x->comm = exchange->comm;
}

/// Arrivals are from the sources and, last, from the own rank, whose words do not need MPI.
void counted_open_partners(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    const struct partners *partners = &exchange->partners;
    departures_open(&x->out, partners->n_targets);
    arrivals_open(&x->in, partners->n_sources + 1);
    int *weights_out = x->out.count, *weights_in = x->in.count; // not in use yet
    for (int i = 0; i < x->out.n; i++) x->out.to[i] = partners->targets[i], weights_out[i] = 1;
    for (int i = 0; i < partners->n_sources; i++) x->in.from[i] = partners->sources[i], weights_in[i] = 1;
    x->in.from[partners->n_sources] = exchange->rank;
    exchange->connections = x->out.n;
    MPI_Dist_graph_create_adjacent(exchange->comm, partners->n_sources, x->in.from, weights_in, x->out.n,
                                   x->out.to, weights_out, MPI_INFO_NULL, 0, &x->comm);
}

static bool between_partners(const struct counted *x) {
    return x->comm != x->common.comm;
}

void counted_make_room(struct counted *x, const struct outbox *outbox) {
    if (between_partners(x)) x->in.count[x->in.n - 1] = (int)outbox_count(outbox, x->common.rank);
    arrivals_make_room(&x->in);
}

void counted_deliver(struct counted *x, const struct outbox *outbox) {
    const size_t own = outbox_count(outbox, x->common.rank);
    if (between_partners(x) && own > 0)
        memcpy(x->in.words + x->in.start[x->in.n - 1], outbox_words(outbox, x->common.rank),
               own * sizeof *x->in.words);
    arrivals_deliver(&x->in, &x->common.inbox);
}

void counted_start(struct exchange *exchange, const struct outbox *outbox, counted_call *sizes) {
    struct counted *x = (struct counted *)exchange;
    departures_collect(&x->out, outbox);
    departures_count(&x->out, exchange);
    x->sizes_there = false;
    sizes(x, outbox);
}

static void send_words(struct counted *x, const struct outbox *outbox, counted_call *words) {
    x->sizes_there = true;
    counted_make_room(x, outbox);
    words(x, outbox);
}

void counted_progress(struct exchange *exchange, const struct outbox *outbox, counted_call *words) {
    struct counted *x = (struct counted *)exchange;
    int complete;
    MPI_Test(&x->request, &complete, MPI_STATUS_IGNORE);
    if (complete && !x->sizes_there) send_words(x, outbox, words);
}

void counted_finish(struct exchange *exchange, const struct outbox *outbox, counted_call *words) {
    struct counted *x = (struct counted *)exchange;
    MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    if (!x->sizes_there) {
        send_words(x, outbox, words);
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    counted_deliver(x, outbox);
}

size_t counted_bytes(const struct exchange *exchange) {
    const struct counted *x = (const struct counted *)exchange;
    return (size_t)x->out.n * counts_rank_bytes + arrivals_bytes(&x->in);
}

void counted_close(struct exchange *exchange) {
    struct counted *x = (struct counted *)exchange;
    if (between_partners(x)) MPI_Comm_free(&x->comm);
    free(x->out.to);
    free(x->out.count);
    free(x->out.start);
    arrivals_close(&x->in);
}
