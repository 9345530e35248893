/// \file
/// Draws the synapses of a rank into buckets of sources, and finds which sources there are.
///
/// draw_all() goes through the neurons of a thread, block by block, and through the projections onto each. It
/// is called twice and draws the same both times, since the random numbers depend on what is drawn only. The
/// first time it counts the synapses of each bucket, so that the second time every synapse has its place, and
/// memory holds each synapse once.
///
/// lists_unite() then marks, bucket by bucket, which sources any thread has, and keeps their low bits.
///
/// Cost: two draws for each synapse. Memory: 4 bytes for each bucket, thread and lane beside the synapses
/// themselves (buckets_source_bits() says how many buckets).

#include "run/lists.h"

#include "base/alloc.h"
#include "description/network_draw.h"
#include "schedule/schedule.h"
#include "transport/source_table.h"
#include <stdlib.h>
#include <string.h>

bool lists_check_words(const struct lane_plan *plan, const struct description *description, uint64_t number,
                       struct error *error) {
    // A word of 32 bits holds the step within the window and the number of a list.
    const uint64_t steps = plan->period * (uint64_t)description->steps_per_cycle;
    const uint64_t most = spike_lists_limit(spike_format(steps));
    return number <= most ||
           error_set(
               error,
               "network: lane %s has to name %llu lists or neurons of a rank; expected at most %llu, which "
               "a four-byte spike can name beside its step in windows of %u cycles, so take shorter windows "
               "(delay_ratio, period) or more ranks",
               plan->name, (unsigned long long)number, (unsigned long long)most, plan->period);
}

/// Returns how many neurons can be sources of synapses of this rank in a lane.
static uint32_t count_sources(const struct model *model, int lane) {
    const struct network *network = &model->description->network;
    bool *is_source = ALLOC_ZERO(bool, network->n_populations);
    uint32_t n = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const uint32_t target_area = network->populations[p->target].area;
        // Projections that bring no synapse to this rank do not count.
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

/// Returns how many synapses a thread of the rank is expected to have, in all lanes.
static double expect_synapses(const struct model *model) {
    const struct network *network = &model->description->network;
    double synapses = 0;
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        synapses += placement_count(model->placement, p->target, model->rank) * p->indegree.mean;
    }
    return synapses / model->threads;
}

void lists_open(struct lists *lists, const struct model *model) {
    const struct network *network = &model->description->network;
    struct error ignored = {""};
    struct synapse_format format;
    uint32_t neurons = 1;
    lists->buckets = ALLOC_ZERO(struct buckets *, (size_t)model->threads);
    lists->source_table = ALLOC(struct source_table, (size_t)model->n_lanes);
    lists->lane_of_projection = ALLOC(int, network->n_projections);
    lists->source_bits = ALLOC(unsigned, (size_t)model->n_lanes);
    for (uint32_t p = 0; p < network->n_projections; p++)
        // Where a projection lies in one lane, its synapses need not look for theirs.
        lists->lane_of_projection[p] =
            schedule_projection_lane(model->schedule, network, &network->projections[p]);
    for (int t = 0; t < model->threads; t++)
        if (model->parts[t]->neurons > neurons) neurons = model->parts[t]->neurons;
    // Where synapses do not fit into words, lists_draw() refuses them and says so; here the widest thread
    // only decides how wide buckets are.
    synapse_format(&format, neurons, network->longest_delay, model->weights, model->n_classes, &ignored);
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        lists->source_bits[l] =
            buckets_source_bits(&format, count_sources(model, l), network->n_neurons, expect_synapses(model));
        // Buckets of the set of sources are at least as wide as those of synapses, and as many as threads
        // need.
        source_table_open(&lists->source_table[l], model->placement, lane->plan->groups.place, lane->ranks,
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
    for (int l = 0; l < model->n_lanes; l++) source_table_close(&lists->source_table[l]);
    FREE(lists->buckets, lists->source_table, lists->lane_of_projection, lists->source_bits);
}

/// Where a thread puts what it draws.
struct sink {
    struct buckets *buckets;       ///< [lanes]
    const int *lane_of_projection; ///< [projections] lane of all synapses, or -1
    uint64_t synapses;             ///< counted
};

/// Returns the lane of a synapse: that of its projection, or where lanes share it that of its source's area.
static inline int lane_of(const struct model *model, uint32_t projection, const struct sink *sink,
                          uint32_t source) {
    if (sink->lane_of_projection[projection] >= 0) return sink->lane_of_projection[projection];
    const struct network *network = &model->description->network;
    uint32_t target = network->projections[projection].target;
    return schedule_lane(model->schedule, network_area(network, source), network->populations[target].area);
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

/// Puts a synapse with this class of weight, or with this weight, into its bucket, or only counts it.
static inline void put_synapse(struct buckets *buckets, const bool counts, uint32_t source, uint32_t target,
                               uint32_t delay, uint32_t weight) {
    const bool own = buckets->format.classes == 0;
    if (counts)
        buckets_count(buckets, source);
    else if (own)
        buckets_put_own(buckets, source, synapse_pack(&buckets->format, target, delay, 0), (int32_t)weight);
    else
        buckets_put(buckets, source, synapse_pack(&buckets->format, target, delay, weight));
}

/// Draws the synapses of a projection onto a neuron, number `target` on the thread, and puts them into
/// buckets; with the constant `counts`, only counts them.
ALWAYS_INLINE void draw(const struct model *model, uint32_t number, uint32_t gid, uint32_t target,
                        struct sink *sink, const bool counts) {
    const struct network *network = &model->description->network;
    const uint32_t indegree = network_indegree(network, number, gid);
    // With one weight for the whole projection, no random number is needed for it.
    const bool same = !network->normal && network->projections[number].weights.classes == 1;
    uint32_t source[network_batch], delay[network_batch], weight[network_batch] = {0};
    sink->synapses += indegree;
    // Then the class is the same for every synapse and is looked up once.
    if (same && !counts) weigh(model, number, indegree < network_batch ? indegree : network_batch, weight);
    // Synapses are drawn in batches that fit the vectors of the random numbers. Counting needs sources only.
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        const uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, number, gid, k, n, source, counts ? NULL : delay,
                     counts || same ? NULL : weight);
        if (!counts && !same) weigh(model, number, n, weight);
        // The common case has no branch for each synapse: the whole projection lies in one lane.
        if (sink->lane_of_projection[number] >= 0) {
            struct buckets only =
                sink->buckets[sink->lane_of_projection[number]]; // nothing changes this copy
            for (uint32_t i = 0; i < n; i++)
                put_synapse(&only, counts, source[i], target, delay[i], weight[i]);
        } else {
            for (uint32_t i = 0; i < n; i++)
                put_synapse(&sink->buckets[lane_of(model, number, sink, source[i])], counts, source[i],
                            target, delay[i], weight[i]);
        }
    }
}

/// Draws the synapses of all neurons of a thread, in an order that is always the same.
static void draw_all(const struct model *model, const struct part *part, struct sink *sink, bool counts) {
    const struct network *network = &model->description->network;
    uint32_t *onto = ALLOC(uint32_t, network->n_projections);
    for (uint32_t b = 0; b < part->n_blocks; b++) {
        const struct block *block = &part->blocks[b];
        // The projections onto the population of this block.
        uint32_t n = 0;
        for (uint32_t p = 0; p < network->n_projections; p++)
            if (network->projections[p].target == block->population) onto[n++] = p;
        for (uint32_t i = 0; i < block->share.count; i++)
            for (uint32_t k = 0; k < n; k++) {
                const uint32_t gid = block->share.first + i * block->share.stride;
                if (counts)
                    draw(model, onto[k], gid, block->first + i, sink, true);
                else
                    draw(model, onto[k], gid, block->first + i, sink, false);
            }
    }
    free(onto);
}

void lists_draw(struct lists *lists, const struct model *model, int thread, struct error *error) {
    const struct network *network = &model->description->network;
    struct sink sink = {.buckets = ALLOC_ZERO(struct buckets, (size_t)model->n_lanes),
                        .lane_of_projection = lists->lane_of_projection};
    struct synapse_format format;
    lists->buckets[thread] = sink.buckets;
    // How synapses of this thread are packed depends on how many neurons it has.
    if (!synapse_format(&format, model->parts[thread]->neurons, network->longest_delay, model->weights,
                        model->n_classes, error))
        return;
    for (int l = 0; l < model->n_lanes; l++)
        buckets_open(&sink.buckets[l], format, lists->source_bits[l], network->n_neurons);
    // First pass: only the sizes of buckets.
    draw_all(model, model->parts[thread], &sink, true);
    // Places in buckets and tables have 32 bits.
    if (sink.synapses > UINT32_MAX) {
        error_set(error,
                  "network: %llu synapses on a thread; expected at most %u, so take more ranks or threads",
                  (unsigned long long)sink.synapses, UINT32_MAX);
        return;
    }
    // Second pass: the same synapses again, now packed and in their place.
    for (int l = 0; l < model->n_lanes; l++) buckets_allocate(&sink.buckets[l]);
    draw_all(model, model->parts[thread], &sink, false);
}

void lists_unite(struct lists *lists, const struct model *model, int thread) {
    uint64_t *present = ALLOC(uint64_t, 1 << id_set_bits_max >> 6);
    for (int l = 0; l < model->n_lanes; l++) {
        struct id_set *sources = &lists->source_table[l].sources;
        const size_t words = (((size_t)1 << sources->bits) + 63) / 64;
        // Threads take the buckets of the rank's sources in turn, so no two of them write the same one.
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
