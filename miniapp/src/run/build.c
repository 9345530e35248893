#include "run/build.h"

#include <omp.h>

bool limits_check_words(const struct lane_plan *plan, const struct description *description, uint64_t number,
                        struct error *error) {
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

// -------------------- lists

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

static void lists_open(struct lists *lists, const struct model *model) {
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

static void lists_close_buckets(struct lists *lists, const struct model *model) {
    for (int t = 0; t < model->threads; t++) {
        for (int l = 0; lists->buckets[t] && l < model->n_lanes; l++) buckets_close(&lists->buckets[t][l]);
        free(lists->buckets[t]);
        lists->buckets[t] = NULL;
    }
}

static void lists_close(struct lists *lists, const struct model *model) {
    lists_close_buckets(lists, model);
    for (int l = 0; l < model->n_lanes; l++) wanted_close(&lists->wanted[l]);
    FREE(lists->buckets, lists->wanted, lists->lanes, lists->source_bits);
}

struct sink {
    struct buckets *buckets; ///< [lanes]
    const int *lanes;        ///< [projections] lane of all synapses, or -1
    uint64_t synapses;       ///< counted
};

static inline int lane_of(const struct model *model, uint32_t projection, const struct sink *sink,
                          uint32_t source) {
    if (sink->lanes[projection] >= 0) return sink->lanes[projection];
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
    const bool same = !network->normal && network->projections[number].weights.classes == 1;
    uint32_t source[network_batch], delay[network_batch], weight[network_batch] = {0};
    sink->synapses += indegree;
    if (same && !counts) weigh(model, number, indegree < network_batch ? indegree : network_batch, weight);
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        const uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, number, gid, k, n, source, counts ? NULL : delay,
                     counts || same ? NULL : weight);
        if (!counts && !same) weigh(model, number, n, weight);
        if (sink->lanes[number] >= 0) {
            struct buckets only = sink->buckets[sink->lanes[number]]; // nothing changes this copy
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
        const uint32_t population = network_population(network, block->share.first);
        uint32_t n = 0;
        for (uint32_t p = 0; p < network->n_projections; p++)
            if (network->projections[p].target == population) onto[n++] = p;
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

/// Draws, as thread `thread`, the synapses of its neurons twice: counts them and puts them into buckets.
/// Fails where a thread has more synapses than can be counted.
static void lists_draw(struct lists *lists, const struct model *model, int thread, struct error *error) {
    const struct network *network = &model->description->network;
    struct sink sink = {.buckets = ALLOC_ZERO(struct buckets, (size_t)model->n_lanes), .lanes = lists->lanes};
    struct synapse_format format;
    lists->buckets[thread] = sink.buckets;
    if (!synapse_format(&format, model->parts[thread]->neurons, network->longest_delay, model->weights,
                        model->n_classes, error))
        return;
    for (int l = 0; l < model->n_lanes; l++)
        buckets_open(&sink.buckets[l], format, lists->source_bits[l], network->n_neurons);
    draw_all(model, model->parts[thread], &sink, true);
    if (sink.synapses > UINT32_MAX) {
        error_set(error,
                  "network: %llu synapses on a thread; expected at most %u, so take more ranks or threads",
                  (unsigned long long)sink.synapses, UINT32_MAX);
        return;
    }
    for (int l = 0; l < model->n_lanes; l++) buckets_allocate(&sink.buckets[l]);
    draw_all(model, model->parts[thread], &sink, false);
}

/// Finds the sources of all threads in the share of the buckets that one thread has.
static void lists_unite(struct lists *lists, const struct model *model, int thread) {
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

// -------------------- build

int build_threads(int wanted) {
    int threads = 0;
    (void)wanted; // of a build without OpenMP
#pragma omp parallel num_threads(wanted)
#pragma omp atomic
    threads++;
    return threads;
}

static int ascending(const void *a, const void *b) {
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

void build_weights(struct model *model) {
    const struct network *network = &model->description->network;
    size_t n = 0;
    if (network->normal) return;
    model->first_class = ALLOC(uint32_t, network->n_projections);
    for (uint32_t i = 0; i < network->n_projections; i++) {
        model->first_class[i] = (uint32_t)n;
        n += network->projections[i].weights.classes;
    }
    model->weights = ALLOC(int32_t, n);
    model->weight_class = ALLOC(uint32_t, n);
    for (uint32_t i = 0; i < network->n_projections; i++)
        memcpy(model->weights + model->first_class[i], network->projections[i].weights.units,
               network->projections[i].weights.classes * sizeof *model->weights);
    qsort(model->weights, n, sizeof *model->weights, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || model->weights[i] != model->weights[i - 1])
            model->weights[model->n_classes++] = model->weights[i];
    for (uint32_t i = 0; i < network->n_projections; i++)
        for (uint32_t k = 0; k < network->projections[i].weights.classes; k++) {
            const int32_t *found = bsearch(&network->projections[i].weights.units[k], model->weights,
                                           model->n_classes, sizeof *model->weights, ascending);
            model->weight_class[model->first_class[i] + k] = (uint32_t)(found - model->weights);
        }
}

void build_close_weights(struct model *model) {
    FREE(model->weights, model->weight_class, model->first_class);
}

static void add_blocks(struct part *part, const struct network *network, const struct neuron_model *model,
                       struct neuron_setup *setup) {
    const struct share share = setup->share;
    const bool external = network->populations[setup->population].external.mean > 0;
    for (uint32_t done = 0; done < share.count; done += block_neurons) {
        uint32_t rest = share.count - done, count = rest < block_neurons ? rest : block_neurons;
        setup->share = (struct share){share.first + done * share.stride, share.stride, count};
        part->blocks[part->n_blocks++] = (struct block){
            .model = model,
            .state = model->open(setup),
            .external = external ? external_open(network, setup->population, setup->share) : NULL,
            .share = setup->share,
            .first = part->neurons};
        part->neurons += count;
    }
}

static struct part *open_part(const struct model *model, int thread) {
    const struct description *description = model->description;
    const struct network *network = &description->network;
    struct part *part = ALLOC_ZERO(struct part, 1);
    size_t blocks = 0;
    for (uint32_t k = 0; k < placement_deals(model->placement); k++)
        blocks += (placement_share(model->placement, k, model->rank, thread).count + block_neurons - 1) /
                  block_neurons;
    part->blocks = ALLOC_ZERO(struct block, blocks);
    for (uint32_t k = 0; k < placement_deals(model->placement); k++) {
        const uint32_t p = model->placement->deals[k].population;
        struct neuron_setup setup = {.seed = network->seed,
                                     .resolution_ms = description->given.resolution_ms,
                                     .input_unit = network->weight_unit,
                                     .population = p,
                                     .share = placement_share(model->placement, k, model->rank, thread)};
        memcpy(setup.parameters, model->neuron_models[p].parameters, sizeof setup.parameters);
        add_blocks(part, network, model->neuron_models[p].model, &setup);
    }
    part->ring = ring_open(part->neurons, network->longest_delay, network->narrow_input);
    part->spikes = ALLOC(struct spike, (size_t)part->neurons * description->steps_per_cycle);
    part->input = ALLOC(int32_t, block_neurons);
    part->fired = ALLOC(uint32_t, block_neurons);
    return part;
}

static void close_part(struct part *part) {
    for (uint32_t i = 0; i < part->n_blocks; i++) {
        part->blocks[i].model->close(part->blocks[i].state);
        external_close(part->blocks[i].external);
    }
    ring_close(&part->ring);
    FREE(part->blocks, part->spikes, part->input, part->fired, part);
}

/// Numbers the parts, and returns the ids of the neurons of the rank, in the order of threads, blocks,
/// neurons.
static uint32_t *number_neurons(struct model *model) {
    for (int t = 0; t < model->threads; t++) {
        model->parts[t]->first_neuron = model->neurons;
        model->neurons += model->parts[t]->neurons;
    }
    uint32_t *gids = ALLOC(uint32_t, model->neurons), n = 0;
    for (int t = 0; t < model->threads; t++)
        for (uint32_t b = 0; b < model->parts[t]->n_blocks; b++) {
            struct share share = model->parts[t]->blocks[b].share;
            for (uint32_t i = 0; i < share.count; i++) gids[n++] = share.first + i * share.stride;
        }
    return gids;
}

/// Makes the synapse tables of all lanes and threads, and finds out which sources they need.
static void build_tables(struct model *model, struct lists *lists, struct error *error) {
#pragma omp parallel num_threads(model->threads)
    {
        struct error own = {""};
        lists_draw(lists, model, omp_get_thread_num(), &own);
#pragma omp critical
        if (error_stands(&own)) error_set(error, "%s", own.text);
    }
    if (error_stands(error)) return;
#pragma omp parallel num_threads(model->threads)
    lists_unite(lists, model, omp_get_thread_num());
    for (int l = 0; l < model->n_lanes; l++) { // lists are the sources with a synapse on this rank, by id
        wanted_number(&lists->wanted[l]);
        limits_check_words(model->lanes[l].plan, model->description, lists->wanted[l].lists, error);
    }
    if (error_stands(error)) return;
#pragma omp parallel num_threads(model->threads)
    for (int t = omp_get_thread_num(), l = 0; l < model->n_lanes; l++)
        synapse_table_open(&model->lanes[l].tables[t], &lists->buckets[t][l], &lists->wanted[l].sources);
}

/// Makes the communicators of the lanes and tests their exchanges.
static bool connect_lanes(struct model *model, MPI_Comm world, struct error *error) {
    const struct schedule *schedule = model->schedule;
    model->lanes = ALLOC_ZERO(struct lane, (size_t)schedule->n_lanes);
    bool connected = true;
    for (int l = 0; connected && l < schedule->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        const struct lane_plan *plan = &schedule->lanes[l];
        if (model->dry)
            lane_connect_alone(lane, plan, model->rank);
        else
            connected = lane_connect(lane, plan, world, error);
        lane->format = spike_format((uint64_t)plan->period * model->description->steps_per_cycle);
        lane->tables = ALLOC_ZERO(struct synapse_table, (size_t)model->threads);
        model->n_lanes++;
    }
    return connected;
}

static bool open_lanes_alone(struct model *model, struct lists *lists, const uint32_t *gids,
                             struct error *error) {
    bool good = true;
    dry_routes_open(model, lists->wanted, gids, model->dry->exact_routes);
    for (int l = 0; l < model->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        uint32_t *per_owner = lists->wanted[l].per_owner;
        lists->wanted[l].per_owner = NULL;
        if (lane->ranks > 1) lane->foreign = foreign_open(model, l, &lists->wanted[l]);
        good = lane_open_alone(lane, per_owner, error) && good;
        free(per_owner);
    }
    dry_end_routes(model->dry);
    return good;
}

bool build(struct model *model, const struct description *description, const struct placement *placement,
           const struct schedule *schedule, MPI_Comm world, struct dry *dry, struct error *error) {
    *model = (struct model){
        .description = description, .placement = placement, .schedule = schedule, .world = world, .dry = dry};
    MPI_Comm_rank(world, &model->process);
    MPI_Comm_size(world, &model->processes);
    model->rank = dry ? dry->rank : model->process;
    model->ranks = placement->ranks;
    model->threads = placement->threads;
    build_weights(model);
    model->neuron_models = ALLOC(struct population_model, description->network.n_populations);
    for (uint32_t p = 0; p < description->network.n_populations;
         p++) // one thread, since it fills in defaults
        neuron_model_read(&description->network.populations[p], &model->neuron_models[p].model,
                          model->neuron_models[p].parameters, error);
    if (!agree(world, error) || !connect_lanes(model, world, error)) return false;
    model->parts = ALLOC_ZERO(struct part *, (size_t)model->threads);
#pragma omp parallel num_threads(model->threads)
    {
        int thread = omp_get_thread_num();
        model->parts[thread] = open_part(model, thread);
    }
    uint32_t *gids = number_neurons(model);

    for (int l = 0; l < model->n_lanes; l++)
        if (model->lanes[l].backend->broadcast && schedule->lanes[l].shortest_delay > 0) // words name neurons
            limits_check_words(&schedule->lanes[l], description, model->neurons, error);
    struct lists lists;
    lists_open(&lists, model);
    if (!error_stands(error)) build_tables(model, &lists, error);
    lists_close_buckets(&lists, model);
    bool built = agree(world, error);
    if (built && dry) built = open_lanes_alone(model, &lists, gids, error);
    for (int l = 0; built && !dry && l < model->n_lanes; l++) {
        lane_open(&model->lanes[l], &lists.wanted[l], gids, model->neurons, error);
        wanted_close(&lists.wanted[l]);
        built = agree(world, error);
    }
    lists_close(&lists, model);
    free(gids);
    return built;
}

void build_reset_counts(struct model *model) {
    for (int t = 0; t < model->threads; t++) model->parts[t]->counts = (struct part_counts){0};
    for (int l = 0; l < model->n_lanes; l++) lane_reset_counts(&model->lanes[l]);
    if (model->dry) dry_reset(model->dry, model->lanes, model->n_lanes);
}

void build_close(struct model *model) {
    for (int l = 0; l < model->n_lanes; l++) {
        for (int t = 0; t < model->threads; t++) synapse_table_close(&model->lanes[l].tables[t]);
        lane_close(&model->lanes[l]);
    }
    for (int t = 0; model->parts && t < model->threads; t++) close_part(model->parts[t]);
    FREE(model->lanes, model->parts);
    build_close_weights(model);
    free(model->neuron_models);
}

uint64_t build_synaptic_events(const struct model *model) {
    uint64_t n = 0;
    for (int t = 0; t < model->threads; t++) n += model->parts[t]->counts.synaptic_events;
    return n;
}

const char *const build_part_names[build_parts] = {"neurons", "synapses", "lists",
                                                   "routes",  "ring",     "buffers"};

void build_bytes(const struct model *model, uint64_t bytes[build_parts]) {
    enum { neurons, synapses, lists, routes, ring, buffers };
    memset(bytes, 0, build_parts * sizeof *bytes);
    for (int t = 0; t < model->threads; t++) {
        const struct part *part = model->parts[t];
        for (uint32_t b = 0; b < part->n_blocks; b++)
            bytes[neurons] += part->blocks[b].share.count * part->blocks[b].model->bytes_per_neuron +
                              external_bytes(part->blocks[b].external);
        bytes[ring] += ring_bytes(&part->ring);
        bytes[buffers] +=
            (uint64_t)part->neurons * model->description->steps_per_cycle * sizeof *part->spikes +
            block_neurons * (sizeof *part->input + sizeof *part->fired);
        for (int l = 0; l < model->n_lanes; l++) {
            const struct synapse_table *table = &model->lanes[l].tables[t];
            const uint64_t words = (uint64_t)table->size * synapse_bytes(&table->format);
            bytes[synapses] += words;
            if (table->synapses) bytes[lists] += synapse_table_bytes(table) - words;
        }
    }
    for (int l = 0; l < model->n_lanes; l++) {
        bytes[routes] += lane_route_bytes(&model->lanes[l]);
        bytes[buffers] += lane_buffer_bytes(&model->lanes[l]);
    }
}
