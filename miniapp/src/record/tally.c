#include "record/tally.h"

#include "base/alloc.h"
#include "base/checksum.h"
#include "record/gather.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_lanes(struct rank_tally *own, const struct model *model) {
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        const struct traffic traffic = lane_traffic(lane);
        own->lanes[l] = (struct lane_tally){.windows = lane->ended,
                                            .messages = traffic.messages,
                                            .bytes = traffic.bytes,
                                            .spikes = lane->spikes_sent,
                                            .connections = (uint64_t)lane->windows->exchange->connections};
        for (int i = 0; i < levels_max; i++) own->lanes[l].levels[i] = lane_level(lane, i);
        for (int t = 0; t < model->threads; t++)
            own->lanes[l].synapses += synapse_table_size(&lane->tables[t]);
        own->traffic.messages += traffic.messages;
        own->traffic.bytes += traffic.bytes;
    }
}

/// Data that the first rank has received so far.
struct gathered {
    struct rank_tally *ranks;
    size_t count;
};

static bool take_rank(const void *block, size_t count, void *context) {
    struct gathered *all = context;
    memcpy(all->ranks + all->count, block, count * sizeof *all->ranks);
    all->count += count;
    return true;
}

struct rank_tally *tally(const struct model *model, const struct measured *measured, const struct host *host,
                         double build_s, MPI_Comm world) {
    struct rank_tally *own = ALLOC_ZERO(struct rank_tally, 1);
    own->neurons = model->neurons;
    own->synapses = build_synapses(model);
    for (int t = 0; t < model->threads; t++) {
        const struct part_counts *counts = &model->parts[t]->counts;
        own->counts.spikes += counts->spikes;
        own->counts.synaptic_events += counts->synaptic_events;
        own->counts.external_events += counts->external_events;
        own->counts.first_accesses += counts->first_accesses;
        own->counts.lookups += counts->lookups;
        own->counts.checksum += counts->checksum;
        own->state_checksum += state_checksum(model->parts[t]);
    }
    add_lanes(own, model);
    build_bytes(model, own->part_bytes);
    own->log_bytes = measured->log.time ? measured->log.cycles * sizeof *measured->log.time : 0;
    own->peak_bytes = measured->peak_bytes;
    own->build_s = build_s;
    own->simulate_s = measured->simulate_s;
    own->process_s = measured->process_s;
    own->node_busy_s = measured->node_busy_s;
    own->node_stolen_s = measured->node_stolen_s;
    memcpy(own->phase_s, measured->log.total, sizeof own->phase_s);
    snprintf(own->binding, sizeof own->binding, "%s", host->binding);
    own->usable = host->usable;
    own->usable_cores = host->usable_cores;

    struct gathered all = {0};
    if (model->process == 0) all.ranks = ALLOC(struct rank_tally, (size_t)model->processes);
    gather_blocks(world, own, 1, sizeof *own, take_rank, &all); // MPI_Gather keeps blocks on other ranks, too
    free(own);
    return all.ranks;
}
