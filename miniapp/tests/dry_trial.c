#include "dry_trial.h"

#include <stdlib.h>
#include <string.h>

void open_one(struct one *one, struct description *description, int threads, struct dry *dry) {
    struct error error = {""};
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (dry) ranks = dry->of;
    *one = (struct one){0};
    if (!open_placement(&one->placement, description, ranks, threads, NULL, &error) ||
        !schedule_plan(&one->schedule, description, &one->placement, &error) ||
        (dry && !dry_check(dry, description, &error)) ||
        !build(&one->model, description, &one->placement, &one->schedule,
               dry ? MPI_COMM_SELF : MPI_COMM_WORLD, dry, &error))
        fail_msg("%s", error.text);
}

void simulate_one(struct one *one) {
    simulate(&one->model, NULL, NULL, &(struct progress){NULL, NULL}, &one->measured);
}

void close_one(struct one *one) {
    measured_close(&one->measured);
    build_close(&one->model);
    schedule_close(&one->schedule);
    placement_close(&one->placement);
}

int own_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

struct dry dry_of(double rate_hz, enum dry_routing routing) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return (struct dry){
        .rank = own_rank(), .of = ranks, .rate_hz = rate_hz, .routing = routing, .spikes_ahead = 300};
}

static int by_rank(const void *a, const void *b) {
    return ((const struct route *)a)->rank - ((const struct route *)b)->rank;
}

void check_routes(const struct routes *expected, const struct routes *found, int ranks) {
    assert_int_equal(found->neurons, expected->neurons);
    assert_memory_equal(found->target, expected->target, (size_t)ranks * sizeof *found->target);
    for (uint32_t i = 0; i <= expected->neurons; i++) assert_int_equal(found->first[i], expected->first[i]);
    for (uint32_t i = 0; i < expected->neurons; i++) {
        const size_t first = expected->first[i], n = expected->first[i + 1] - first;
        qsort(expected->route + first, n, sizeof *expected->route, by_rank);
        qsort(found->route + first, n, sizeof *found->route, by_rank);
        for (size_t k = first; k < first + n; k++) {
            assert_int_equal(found->route[k].rank, expected->route[k].rank);
            assert_int_equal(found->route[k].list, expected->route[k].list);
        }
    }
}

static int by_step(const void *a, const void *b) {
    return memcmp(a, b, sizeof(uint32_t[2]));
}

void check_spikes(const struct trace *expected, const struct trace *found) {
    assert_int_equal(found->count, expected->count);
    qsort(expected->spikes, expected->count, sizeof *expected->spikes, by_step);
    qsort(found->spikes, found->count, sizeof *found->spikes, by_step);
    if (found->count)
        assert_memory_equal(found->spikes, expected->spikes, found->count * sizeof *found->spikes);
}

struct rank_tally *tally_of(const struct one *one) {
    const struct host host = {.cores = 1};
    struct model alone = one->model; // only its own
    alone.process = 0, alone.processes = 1;
    return tally(&alone, &one->measured, &host, 0, MPI_COMM_SELF);
}

void check_counts(const struct one *expected, const struct one *found, const char *what) {
    struct rank_tally *a = tally_of(expected), *b = tally_of(found);
    if (a->counts.checksum + a->state_checksum != b->counts.checksum + b->state_checksum)
        fail_msg("%s: rank %d, checksum %llx, alone %llx; %llu and %llu synaptic events", what,
                 expected->model.rank, (unsigned long long)(a->counts.checksum + a->state_checksum),
                 (unsigned long long)(b->counts.checksum + b->state_checksum),
                 (unsigned long long)a->counts.synaptic_events,
                 (unsigned long long)b->counts.synaptic_events);
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts); // spikes, events, accesses, look-ups
    assert_int_equal(a->neurons, b->neurons);
    assert_int_equal(a->synapses, b->synapses);
    assert_memory_equal(a->part_bytes, b->part_bytes,
                        (build_parts - 1) * sizeof *a->part_bytes); // no buffers
    for (int l = 0; l < expected->model.n_lanes; l++) {
        assert_int_equal(a->lanes[l].spikes, b->lanes[l].spikes);
        assert_int_equal(a->lanes[l].windows, b->lanes[l].windows);
    }
    free(a);
    free(b);
}
