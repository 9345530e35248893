#include "assembly/lane.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Opens the exchange with the ranks that have routes to or from this one.
static void lane_connect(struct lane *lane, int ranks, const struct wanted *wanted) {
    const struct routes *routes = &lane->routes;
    int own, *targets = ALLOC_ZERO(int, (size_t)ranks), *sources = ALLOC(int, (size_t)ranks);
    struct partners partners = {.targets = targets, .sources = sources};
    MPI_Comm_rank(lane->comm, &own);
    for (size_t i = 0; i < routes->first[routes->neurons]; i++) targets[routes->route[i].rank] = 1;
    for (int rank = 0; rank < ranks; rank++) {
        if (rank == own) continue;
        if (targets[rank]) targets[partners.n_targets++] = rank;
        if (wanted->per_owner[rank]) sources[partners.n_sources++] = rank;
    }
    lane->exchange =
        exchange_open(&(struct exchange_spec){.backend = lane->plan->backend}, lane->comm, &partners);
    free(targets);
    free(sources);
}

void lane_open(struct lane *lane, const struct wanted *wanted, const uint32_t *own_gids, uint32_t n) {
    enum { first_capacity = 64 }; // words per destination; the outbox grows where that is not enough
    int ranks;
    MPI_Comm_size(lane->comm, &ranks);
    routes_open(&lane->routes, lane->comm, wanted, own_gids, n);
    outbox_open(&lane->outbox, ranks, first_capacity);
    lane_connect(lane, ranks, wanted);
}

void lane_close(struct lane *lane) {
    exchange_close(lane->exchange);
    outbox_close(&lane->outbox);
    routes_close(&lane->routes);
    free(lane->tables);
}

void lane_reset_counts(struct lane *lane) {
    lane->windows = lane->spikes_sent = 0;
    lane->exchange->traffic = (struct traffic){0, 0};
}

void lane_collocate(struct lane *lane, uint32_t neuron, uint32_t step) {
    const struct routes *routes = &lane->routes;
    for (size_t i = routes->first[neuron]; i < routes->first[neuron + 1]; i++)
        outbox_add(&lane->outbox, routes->route[i].rank,
                   spike_pack(lane->format, routes->route[i].list, step - lane->window));
    lane->spikes_sent += routes->first[neuron + 1] - routes->first[neuron];
}

void lane_synchronise(struct lane *lane) {
    MPI_Barrier(lane->comm);
}

void lane_exchange(struct lane *lane, uint32_t next) {
    exchange_start(lane->exchange, &lane->outbox);
    exchange_finish(lane->exchange, &lane->outbox);
    outbox_clear(&lane->outbox);
    lane->delivered = lane->window;
    lane->inbox_full = true;
    lane->window = next;
    lane->windows++;
}

struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring) {
    struct delivered sum = {0, 0};
    const struct inbox *inbox = &lane->exchange->inbox;
    for (int i = 0; i < inbox->runs; i++) {
        struct delivered d = synapse_table_deliver(&lane->tables[thread], inbox->run[i].words,
                                                   inbox->run[i].count, lane->format, lane->delivered, ring);
        sum.synaptic_events += d.synaptic_events;
        sum.first_accesses += d.first_accesses;
    }
    return sum;
}
