#include "run/build_lists.h"

#include "base/alloc.h"
#include "description/draw.h"
#include <stdlib.h>

void lists_open(struct lists *lists, const struct model *model) {
    lists->counts = ALLOC_ZERO(uint32_t **, (size_t)model->threads);
    lists->list_of = ALLOC_ZERO(uint32_t *, (size_t)model->n_lanes);
    lists->n_lists = ALLOC_ZERO(uint32_t, (size_t)model->n_lanes);
    const struct network *network = &model->description->network;
    lists->lanes = ALLOC(int, network->n_projections);
    for (uint32_t p = 0; p < network->n_projections; p++)
        lists->lanes[p] = schedule_projection_lane(model->schedule, network, &network->projections[p]);
}

void lists_close(struct lists *lists, const struct model *model) {
    for (int t = 0; t < model->threads; t++) {
        for (int l = 0; l < model->n_lanes; l++) free(lists->counts[t][l]);
        free(lists->counts[t]);
    }
    for (int l = 0; l < model->n_lanes; l++) free(lists->list_of[l]);
    free(lists->counts);
    free(lists->list_of);
    free(lists->n_lists);
    free(lists->lanes);
}

/// A neuron of the thread and a projection onto it, whose synapses are drawn together.
struct draw {
    uint32_t projection;
    uint32_t gid;
    uint32_t target; ///< number on the thread
};

/// Calls `take` for every neuron of the thread and projection onto it, in an order that is always the same.
static void for_each_draw(const struct model *model, int thread,
                          void (*take)(const struct model *, const struct draw *, void *), void *context) {
    const struct network *network = &model->description->network;
    const struct part *part = model->parts[thread];
    uint32_t *onto = ALLOC(uint32_t, network->n_projections);
    for (uint32_t b = 0; b < part->n_blocks; b++) {
        const struct block *block = &part->blocks[b];
        const uint32_t population = network_population(network, block->share.first);
        uint32_t n = 0;
        for (uint32_t p = 0; p < network->n_projections; p++)
            if (network->projections[p].target == population) onto[n++] = p;
        for (uint32_t i = 0; i < block->share.count; i++)
            for (uint32_t k = 0; k < n; k++) {
                struct draw draw = {onto[k], block->share.first + i * block->share.stride, block->first + i};
                take(model, &draw, context);
            }
    }
    free(onto);
}

struct sink {
    uint32_t **counts;            ///< [lanes], while counting
    uint32_t **list_of;           ///< [lanes], while filling
    struct synapse_table *tables; ///< [lanes], while filling
    const int *lanes;             ///< [projections] lane of all synapses, or -1
};

/// Returns the lane of a synapse from `source`.
static inline int lane_of(const struct model *model, uint32_t projection, const struct sink *sink,
                          uint32_t source) {
    if (sink->lanes[projection] >= 0) return sink->lanes[projection];
    const struct network *network = &model->description->network;
    uint32_t target = network->projections[projection].target;
    return schedule_lane(model->schedule, network_area(network, source), network->populations[target].area);
}

static void count_draw(const struct model *model, const struct draw *draw, void *context) {
    const struct network *network = &model->description->network;
    struct sink *sink = context;
    const uint32_t indegree = network_indegree(network, draw->projection, draw->gid);
    uint32_t source[network_batch];
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, draw->projection, draw->gid, k, n, source, NULL, NULL);
        for (uint32_t i = 0; i < n; i++)
            sink->counts[lane_of(model, draw->projection, sink, source[i])][source[i]]++;
    }
}

/// Turns words into what `n` synapses hold beside their place: the class of their weight, or the weight
/// itself.
static void weigh(const struct model *model, uint32_t projection, uint32_t n, uint32_t word[network_batch]) {
    const struct network *network = &model->description->network;
    const struct weights *weights = &network->projections[projection].weights;
    if (network->normal) {
        for (uint32_t i = 0; i < n; i++)
            word[i] = (uint32_t)weights_draw_units(weights, network->normal, word[i]);
    } else {
        const uint32_t *classes = model->weight_class + model->first_class[projection];
        for (uint32_t i = 0; i < n; i++) word[i] = classes[weights_draw(weights, word[i])];
    }
}

static void put_draw(const struct model *model, const struct draw *draw, void *context) {
    const struct network *network = &model->description->network;
    const struct projection *projection = &network->projections[draw->projection];
    const uint32_t indegree = network_indegree(network, draw->projection, draw->gid);
    const bool own = network->normal, same = !own && projection->weights.classes == 1;
    struct sink *sink = context;
    uint32_t source[network_batch], delay[network_batch], weight[network_batch] = {0};
    if (same) weigh(model, draw->projection, indegree < network_batch ? indegree : network_batch, weight);
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, draw->projection, draw->gid, k, n, source, delay, same ? NULL : weight);
        if (!same) weigh(model, draw->projection, n, weight);
        for (uint32_t i = 0; i < n; i++) {
            int lane = lane_of(model, draw->projection, sink, source[i]);
            struct synapse_table *table = &sink->tables[lane];
            const uint32_t list = sink->list_of[lane][source[i]];
            if (own)
                synapse_table_put_own(table, list, synapse_pack(&table->format, draw->target, delay[i], 0),
                                      (int32_t)weight[i]);
            else
                synapse_table_put(table, list,
                                  synapse_pack(&table->format, draw->target, delay[i], weight[i]));
        }
    }
}

void lists_count(struct lists *lists, const struct model *model, int thread) {
    size_t sources = model->description->network.n_neurons;
    lists->counts[thread] = ALLOC(uint32_t *, (size_t)model->n_lanes);
    for (int l = 0; l < model->n_lanes; l++) lists->counts[thread][l] = ALLOC_ZERO(uint32_t, sources);
    struct sink sink = {.counts = lists->counts[thread], .lanes = lists->lanes};
    for_each_draw(model, thread, count_draw, &sink);
}

struct wanted lists_number(struct lists *lists, const struct model *model, int lane, struct error *error) {
    const struct network *network = &model->description->network;
    const int *place = model->lanes[lane].plan->groups.place; // ranks in the communicator of the lane
    const size_t owners = (size_t)model->lanes[lane].ranks;
    struct wanted wanted = {.per_owner = ALLOC_ZERO(uint32_t, owners)};
    uint32_t *list_of = lists->list_of[lane] = ALLOC_ZERO(uint32_t, network->n_neurons);
    uint32_t *next = ALLOC_ZERO(uint32_t, owners);

    // The first pass over all neurons counts the lists of each owner, the second numbers them.
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t p = 0; p < network->n_populations; p++) {
            const struct population *population = &network->populations[p];
            for (uint32_t gid = population->first; gid < population->first + population->size; gid++) {
                bool any = false;
                for (int t = 0; t < model->threads; t++) any |= lists->counts[t][lane][gid] > 0;
                if (!any) continue;
                int owner = place[placement_rank(model->placement, p, gid)];
                if (pass == 0)
                    wanted.per_owner[owner]++;
                else
                    wanted.gids[list_of[gid] = next[owner]++] = gid;
            }
        }
        if (pass == 1) break;
        uint64_t total = 0;
        for (size_t owner = 0; owner < owners; owner++) {
            next[owner] = (uint32_t)total;
            total += wanted.per_owner[owner];
        }
        wanted.gids = ALLOC(uint32_t, total);
        lists->n_lists[lane] = (uint32_t)total;
        if (total > spike_lists_limit(model->lanes[lane].format) || total > INT32_MAX)
            error_set(
                error,
                "delay_ratio: %u; allowed: less, or more ranks, since lane %s has %llu lists on a rank, "
                "and a four-byte spike can name %llu beside the step",
                model->lanes[lane].plan->period, model->lanes[lane].plan->name, (unsigned long long)total,
                (unsigned long long)spike_lists_limit(model->lanes[lane].format));
    }
    free(next);
    return wanted;
}

void lists_fill(struct lists *lists, const struct model *model, int thread, struct error *error) {
    const struct network *network = &model->description->network;
    struct sink sink = {.list_of = lists->list_of, .lanes = lists->lanes};
    sink.tables = ALLOC_ZERO(struct synapse_table, (size_t)model->n_lanes);
    struct synapse_format format;
    synapse_format(&format, model->parts[thread]->neurons, network->longest_delay, model->weights,
                   model->n_classes, error);

    for (int l = 0; l < model->n_lanes && !error_stands(error); l++) {
        const uint32_t *counts = lists->counts[thread][l];
        synapse_table_open(&sink.tables[l], format, lists->n_lists[l]);
        for (uint32_t gid = 0; gid < network->n_neurons; gid++)
            if (counts[gid] > 0)
                synapse_table_add_count(&sink.tables[l], lists->list_of[l][gid], counts[gid]);
        synapse_table_allocate(&sink.tables[l], error);
    }
    if (!error_stands(error)) for_each_draw(model, thread, put_draw, &sink);
    for (int l = 0; l < model->n_lanes; l++) model->lanes[l].tables[thread] = sink.tables[l];
    free(sink.tables);
}
