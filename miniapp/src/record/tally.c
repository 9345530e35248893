/// \file
/// Collects counts, times and memory of a rank, and gathers them.
///
/// tally() fills in a struct rank_tally on each rank, sums over its threads and lanes, and gathers the three
/// kinds of items (ranks, lanes, levels) apart, since structs with pointers cannot be sent as they are. Rank
/// 0 then lets the pointers lead to what it has gathered.

#include "record/tally.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include "record/gather.h"
#include "run/build.h"
#include "schedule/schedule.h"
#include "transport/communicator.h"
#include <string.h>

/// Returns the checksum over the states in which the neurons of a thread end.
static uint64_t state_checksum(const struct part *part) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < part->n_blocks; b++) {
        const struct block *block = &part->blocks[b];
        for (uint32_t i = 0; i < block->share.count; i++)
            sum += checksum_state(block->share.first + i * block->share.stride,
                                  block->model->state_of(block->state, i));
    }
    return sum;
}

/// Adds what the lanes counted, and their synapses.
static void add_lanes(struct rank_tally *own, const struct model *model) {
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        const struct traffic traffic = lane_traffic(lane);
        struct lane_tally *tally = &own->lanes[l];
        tally->windows = lane->ended;
        tally->messages = traffic.messages;
        tally->bytes = traffic.bytes;
        tally->spikes = lane->spikes_sent;
        tally->connections = (uint64_t)lane->transfers->exchange->connections;
        for (int i = 0; i < lane->plan->exchange.levels.n; i++) tally->levels[i] = lane_level(lane, i);
        for (int t = 0; t < model->threads; t++) tally->synapses += lane->tables[t].size;
        own->synapses += tally->synapses;
        own->traffic.messages += traffic.messages;
        own->traffic.bytes += traffic.bytes;
    }
}

/// Turns a list like "0-3,8" into a new list of numbers. It is hwloc's own text, so nothing else can be in
/// it.
static json_t *numbers(const char *list) {
    json_t *all = json_array();
    int first, last, read;
    while (sscanf(list, "%d%n", &first, &read) == 1) {
        list += read;
        last = first;
        if (sscanf(list, "-%d%n", &last, &read) == 1) list += read;
        for (int i = first; i <= last; i++) json_array_append_new(all, json_integer(i));
        list += *list == ',';
    }
    return all;
}

/// Appends the list of a rank: `take` of gather_blocks().
static bool take_numbers(const void *text, size_t count, void *list) {
    (void)count;
    return json_array_append_new(list, numbers(text)) == 0;
}

json_t *tally_processors(const char *list, MPI_Comm world) {
    json_t *all = comm_rank(world) == 0 ? json_array() : NULL;
    gather_blocks(world, list, strlen(list) + 1, 1, take_numbers, all);
    return all;
}

void tally_close(struct rank_tally *tally) {
    if (tally) FREE(tally->lanes->levels, tally->lanes, tally);
}

/// Gathers `count` items of every rank. \return on the first rank all of them, one rank after the other.
static void *gather(MPI_Comm world, const void *own, size_t count, size_t size) {
    const size_t ranks = (size_t)comm_size(world);
    struct gathered all = {.items = comm_rank(world) == 0 ? alloc(ranks * count, size) : NULL, .size = size};
    gather_blocks(world, own, count, size, gather_append,
                  &all); // MPI_Gather keeps blocks on other ranks, too
    return all.items;
}

struct rank_tally *tally(const struct model *model, const struct measured *measured, double build_s,
                         MPI_Comm world) {
    const size_t n_lanes = (size_t)model->n_lanes, most = (size_t)lane_levels_most(model->schedule);
    struct lane_tally *own_lanes = ALLOC_ZERO(struct lane_tally, n_lanes);
    struct level_traffic *own_levels = ALLOC_ZERO(struct level_traffic, n_lanes * most);
    struct rank_tally own = {.neurons = model->neurons,
                             .lanes = own_lanes,
                             .peak_bytes = measured->peak_bytes,
                             .build_s = build_s,
                             .simulate_s = measured->simulate_s,
                             .process_s = measured->process_s,
                             .node_busy_s = measured->node_busy_s,
                             .node_stolen_s = measured->node_stolen_s,
                             .throttled_s = measured->throttled_s};
    for (size_t l = 0; l < n_lanes; l++) own_lanes[l].levels = own_levels + l * most;
    // Sums over threads.
    for (int t = 0; t < model->threads; t++) {
        part_counts_add(&own.counts, &model->parts[t]->counts);
        own.state_checksum += state_checksum(model->parts[t]);
    }
    // Lanes, memory, times.
    add_lanes(&own, model);
    build_bytes(model, own.memory_bytes);
    own.log_bytes = measured->log.time ? measured->log.cycles * sizeof *measured->log.time : 0;
    own.log_bytes += activity_bytes(&measured->activity);
    memcpy(own.phase_s, measured->log.total, sizeof own.phase_s);

    // Pointers in what is gathered are those of other ranks, until they are set here.
    struct rank_tally *ranks = gather(world, &own, 1, sizeof own);
    struct lane_tally *lanes = gather(world, own_lanes, n_lanes, sizeof *lanes);
    struct level_traffic *levels = gather(world, own_levels, n_lanes * most, sizeof *levels);
    for (size_t r = 0; ranks && r < (size_t)model->processes; r++) {
        ranks[r].lanes = lanes + r * n_lanes;
        for (size_t l = 0; l < n_lanes; l++) ranks[r].lanes[l].levels = levels + (r * n_lanes + l) * most;
    }
    FREE(own_lanes, own_levels);
    return ranks;
}
