#include "run/build_lists.h"

#include "base/alloc.h"
#include "description/draw.h"
#include "run/limits.h"
#include <stdlib.h>
#include <string.h>

/// Returns how many neurons can be sources of synapses of this rank in a lane.
static uint32_t count_sources(const struct model *model, int lane) {
    const struct network *network = &model->description->network;
    bool *is_source = ALLOC_ZERO(bool, network->n_populations);
    uint32_t n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const uint32_t target_area = network->populations[p->target].area;
        if (placement_count(model->placement, p->target, model->rank) == 0 || p->indegree.mean == 0) continue;
        for (uint32_t k = 0; k < p->n_sources; k++)
            is_source[p->sources[k]] |=
                schedule_lane(model->schedule, network->populations[p->sources[k]].area, target_area) == lane;
    }
    for (uint32_t p = 0; p < network->n_populations; p++)
        n += is_source[p] ? network->populations[p].size : 0;
    free(is_source);
    return n;
}

void lists_open(struct lists *lists, const struct model *model) {
    const struct network *network = &model->description->network;
    struct error error = {""};
    struct synapse_format format;
    uint32_t neurons = 1;
    lists->buckets = ALLOC_ZERO(struct buckets *, (size_t)model->threads);
    lists->wanted = ALLOC(struct wanted, (size_t)model->n_lanes);
    lists->lanes = ALLOC(int, network->n_projections);
    lists->source_bits = ALLOC(unsigned, (size_t)model->n_lanes);
    for (uint32_t p = 0; p < network->n_projections; p++)
        lists->lanes[p] = schedule_projection_lane(model->schedule, network, &network->projections[p]);
    for (int t = 0; t < model->threads; t++)
        if (model->parts[t]->neurons > neurons) neurons = model->parts[t]->neurons;
    synapse_format(&format, neurons, network->longest_delay, model->weights, model->n_classes, &error);
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        lists->source_bits[l] = buckets_source_bits(&format, count_sources(model, l));
        wanted_open(&lists->wanted[l], model->placement, lane->plan->groups.place, lane->ranks,
                    id_set_bits(network->n_neurons, lists->source_bits[l], model->threads));
    }
}

void lists_close_buckets(struct lists *lists, const struct model *model) {
    for (int t = 0; t < model->threads; t++) {
        for (int l = 0; lists->buckets[t] && l < model->n_lanes; l++) buckets_close(&lists->buckets[t][l]);
        free(lists->buckets[t]);
        lists->buckets[t] = NULL;
    }
}

void lists_close(struct lists *lists, const struct model *model) {
    lists_close_buckets(lists, model);
    for (int l = 0; l < model->n_lanes; l++) wanted_close(&lists->wanted[l]);
    free(lists->buckets);
    free(lists->wanted);
    free(lists->lanes);
    free(lists->source_bits);
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
    struct buckets *buckets; ///< [lanes]
    const int *lanes;        ///< [projections] lane of all synapses, or -1
    uint64_t synapses;       ///< counted
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
    sink->synapses += indegree;
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, draw->projection, draw->gid, k, n, source, NULL, NULL);
        if (sink->lanes[draw->projection] >= 0) {
            struct buckets only = sink->buckets[sink->lanes[draw->projection]]; // nothing changes this copy
            for (uint32_t i = 0; i < n; i++) buckets_count(&only, source[i]);
        } else {
            for (uint32_t i = 0; i < n; i++)
                buckets_count(&sink->buckets[lane_of(model, draw->projection, sink, source[i])], source[i]);
        }
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

/// Puts a synapse with this class of weight, or with this weight, into its bucket.
static inline void put_synapse(struct buckets *buckets, uint32_t source, uint32_t target, uint32_t delay,
                               uint32_t weight) {
    const bool own = buckets->format.classes == 0;
    const uint32_t packed = synapse_pack(&buckets->format, target, delay, own ? 0 : weight);
    if (own)
        buckets_put_own(buckets, source, packed, (int32_t)weight);
    else
        buckets_put(buckets, source, packed);
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
        if (sink->lanes[draw->projection] >= 0) {
            struct buckets only = sink->buckets[sink->lanes[draw->projection]];
            for (uint32_t i = 0; i < n; i++) put_synapse(&only, source[i], draw->target, delay[i], weight[i]);
        } else {
            for (uint32_t i = 0; i < n; i++)
                put_synapse(&sink->buckets[lane_of(model, draw->projection, sink, source[i])], source[i],
                            draw->target, delay[i], weight[i]);
        }
    }
}

void lists_draw(struct lists *lists, const struct model *model, int thread, struct error *error) {
    const struct network *network = &model->description->network;
    struct sink sink = {.buckets = ALLOC_ZERO(struct buckets, (size_t)model->n_lanes), .lanes = lists->lanes};
    struct synapse_format format;
    lists->buckets[thread] = sink.buckets;
    if (!synapse_format(&format, model->parts[thread]->neurons, network->longest_delay, model->weights,
                        model->n_classes, error))
        return;
    for (int l = 0; l < model->n_lanes; l++)
        buckets_open(&sink.buckets[l], format, lists->source_bits[l], network->n_neurons);
    for_each_draw(model, thread, count_draw, &sink);
    if (sink.synapses > UINT32_MAX) {
        error_set(error,
                  "network: %llu synapses on a thread; allowed: at most %u, so take more ranks or threads",
                  (unsigned long long)sink.synapses, UINT32_MAX);
        return;
    }
    for (int l = 0; l < model->n_lanes; l++) buckets_allocate(&sink.buckets[l]);
    for_each_draw(model, thread, put_draw, &sink);
}

void lists_unite(struct lists *lists, const struct model *model, int thread) {
    uint64_t *present = ALLOC(uint64_t, 1 << id_set_bits_max >> 6);
    for (int l = 0; l < model->n_lanes; l++) {
        struct id_set *sources = &lists->wanted[l].sources;
        const size_t words = (((size_t)1 << sources->bits) + 63) / 64;
        for (uint32_t k = (uint32_t)thread; k < sources->buckets; k += (uint32_t)model->threads) {
            memset(present, 0, words * sizeof *present);
            for (int t = 0; t < model->threads; t++)
                buckets_mark(&lists->buckets[t][l], (uint64_t)k << sources->bits,
                             (uint64_t)1 << sources->bits, present);
            id_set_fill(sources, k, present);
        }
    }
    free(present);
}

bool lists_number(struct lists *lists, const struct model *model, struct error *error) {
    for (int l = 0; l < model->n_lanes; l++) {
        wanted_number(&lists->wanted[l]);
        limits_check_words(model->lanes[l].plan, model->description, lists->wanted[l].lists, error);
    }
    return !error_stands(error);
}

void lists_finish(struct lists *lists, const struct model *model, int thread) {
    for (int l = 0; l < model->n_lanes; l++)
        synapse_table_open(&model->lanes[l].tables[thread], &lists->buckets[thread][l],
                           &lists->wanted[l].sources);
}
