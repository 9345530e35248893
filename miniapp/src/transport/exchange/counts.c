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

void departures_open_all(struct departures *departures, int ranks) {
    departures_open(departures, ranks);
    for (int rank = 0; rank < ranks; rank++) departures->to[rank] = rank;
}

void arrivals_open_all(struct arrivals *arrivals, int ranks) {
    arrivals_open(arrivals, ranks);
    for (int rank = 0; rank < ranks; rank++) arrivals->from[rank] = rank;
}

void departures_open_partners(struct departures *departures, const struct exchange *exchange) {
    const struct partners *partners = &exchange->partners;
    departures_open(departures, partners->n_targets);
    for (int i = 0; i < partners->n_targets; i++) departures->to[i] = partners->targets[i];
}

void arrivals_open_partners(struct arrivals *arrivals, const struct exchange *exchange) {
    const struct partners *partners = &exchange->partners;
    arrivals_open(arrivals, partners->n_sources + 1);
    for (int i = 0; i < partners->n_sources; i++) arrivals->from[i] = partners->sources[i];
    arrivals->from[partners->n_sources] = exchange->rank;
}

MPI_Comm partners_graph(struct departures *departures, struct arrivals *arrivals, MPI_Comm comm) {
    MPI_Comm graph;
    int *weights_out = departures->count, *weights_in = arrivals->count; // not in use yet
    for (int i = 0; i < departures->n; i++) weights_out[i] = 1;
    for (int i = 0; i < arrivals->n; i++) weights_in[i] = 1;
    MPI_Dist_graph_create_adjacent(comm, arrivals->n - 1, arrivals->from, weights_in, departures->n,
                                   departures->to, weights_out, MPI_INFO_NULL, 0, &graph);
    return graph;
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

void arrivals_count_own(struct arrivals *arrivals, const struct outbox *outbox, int own) {
    arrivals->count[arrivals->n - 1] = (int)outbox_count(outbox, own);
}

void arrivals_copy_own(struct arrivals *arrivals, const struct outbox *outbox, int own) {
    const size_t count = outbox_count(outbox, own);
    if (count == 0) return;
    memcpy(arrivals->words + arrivals->start[arrivals->n - 1], outbox_words(outbox, own),
           count * sizeof *arrivals->words);
}

void arrivals_deliver(const struct arrivals *arrivals, struct inbox *inbox) {
    for (int i = 0; i < arrivals->n; i++)
        inbox->run[arrivals->from[i]] =
            (struct inbox_run){arrivals->words + arrivals->start[i], (size_t)arrivals->count[i]};
}

size_t departures_bytes(const struct departures *departures) {
    return (size_t)departures->n * counts_rank_bytes;
}

size_t arrivals_bytes(const struct arrivals *arrivals) {
    return (size_t)arrivals->n * counts_rank_bytes + arrivals->capacity * sizeof *arrivals->words;
}

void departures_close(struct departures *departures) {
    free(departures->to);
    free(departures->count);
    free(departures->start);
}

void arrivals_close(struct arrivals *arrivals) {
    free(arrivals->from);
    free(arrivals->count);
    free(arrivals->start);
    free(arrivals->words);
}
