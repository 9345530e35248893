/// \file
/// Builds the share of the network that this rank has, and closes it again.
///
/// build() goes through these steps, each on all threads of the rank unless it says otherwise:
///
/// 1. One thread reads the neuron models, numbers the weights that occur (build_weights()), and connects the
///    lanes: communicators, and a test of each exchange.
/// 2. Every thread opens its part: blocks of its neurons, their ring buffer, room for their spikes. Memory is
///    first touched by the thread that will use it.
/// 3. Every thread draws the incoming synapses of its neurons twice. The first time it counts them by bucket
///    of sources, the second time it puts them there (lists_draw()). Nothing is sent: the random numbers
///    depend on what is drawn only, so each rank can draw its own synapses without asking others.
/// 4. The threads find together which sources the rank has synapses of (lists_unite()). One thread numbers
///    them by id. These numbers are those of the lists that spikes will name.
/// 5. Every thread sorts its buckets into a synapse table for each lane (synapse/sort.c).
/// 6. The ranks of each lane tell each other which lists they have, so that senders have routes, and open
///    their exchanges (lane_open()).
///
/// Time: two draws for each synapse, and two passes of sorting. Memory on top of what stays: see struct
/// estimate in app/estimate.h.
///
/// Read next: description/network_draw.h for how a synapse is drawn, transport/routes.c for step 6, and
/// simulate.c for what is done with all this.

#include "run/build.h"

#include "base/alloc.h"
#include "run/lists.h"
#include "transport/communicator.h"
#include "transport/source_table.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

int build_threads(int number) {
    int threads = 0;
    (void)number; // of a build without OpenMP
#pragma omp parallel num_threads(number)
#pragma omp atomic
    threads++;
    return threads;
}

/// Compares weights, for qsort() and bsearch().
static int ascending(const void *a, const void *b) {
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

void build_weights(struct model *model) {
    const struct network *network = &model->description->network;
    size_t n = 0;
    if (network->normal) return;
    // Projections keep their classes one after the other; first_class says where those of each begin.
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
    // All weights that occur, sorted, each once.
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

/// Appends the neurons that `setup` names to the blocks of a thread, block_neurons at a time.
static void add_blocks(struct part *part, const struct network *network, const struct neuron_model *model,
                       struct neuron_setup *setup) {
    const struct share share = setup->share;
    const bool external = network->populations[setup->population].external.mean > 0;
    // A block takes the next neurons of the share, and the same distance between their ids.
    for (uint32_t done = 0; done < share.count; done += block_neurons) {
        uint32_t rest = share.count - done, count = rest < block_neurons ? rest : block_neurons;
        setup->share = (struct share){share.first + done * share.stride, share.stride, count};
        part->blocks[part->n_blocks++] = (struct block){
            .model = model,
            .state = model->open(setup),
            .external = external ? external_open(network, setup->population, setup->share) : NULL,
            .share = setup->share,
            .first = part->neurons,
            .population = setup->population};
        part->neurons += count;
    }
}

/// Makes the part of a thread, as that thread, so that its memory lies near it. \return it, owned by the
/// caller; free it with close_part().
static struct part *open_part(const struct model *model, int thread) {
    const struct description *description = model->description;
    const struct network *network = &description->network;
    struct part *part = ALLOC_ZERO(struct part, 1);
    // How many blocks there will be, so that they lie side by side.
    size_t blocks = 0;
    for (uint32_t k = 0; k < placement_ranges(model->placement); k++)
        blocks += (placement_share(model->placement, k, model->rank, thread).count + block_neurons - 1) /
                  block_neurons;
    part->blocks = ALLOC_ZERO(struct block, blocks);
    for (uint32_t k = 0; k < placement_ranges(model->placement); k++) {
        const uint32_t p = model->placement->ranges[k].population;
        struct neuron_setup setup = {.seed = network->seed,
                                     .resolution_ms = description->given.resolution_ms,
                                     .input_unit = network->weight_unit,
                                     .population = p,
                                     .share = placement_share(model->placement, k, model->rank, thread)};
        memcpy(setup.parameters, model->neuron_models[p].parameters, sizeof setup.parameters);
        add_blocks(part, network, model->neuron_models[p].model, &setup);
    }
    // Room for input, and for the most spikes that a cycle can have.
    part->ring = ring_open(part->neurons, network->longest_delay, network->narrow_input);
    part->spikes = ALLOC(struct spike, (size_t)part->neurons * description->steps_per_cycle);
    part->input = ALLOC(int32_t, block_neurons);
    part->fired = ALLOC(uint32_t, block_neurons);
    return part;
}

/// Closes the state of all blocks and frees the part.
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
        source_table_number(&lists->source_table[l]);
        lists_check_words(model->lanes[l].plan, model->description, lists->source_table[l].lists, error);
    }
    if (error_stands(error)) return;
#pragma omp parallel num_threads(model->threads)
    for (int t = omp_get_thread_num(), l = 0; l < model->n_lanes; l++)
        synapse_table_open(&model->lanes[l].tables[t], &lists->buckets[t][l],
                           &lists->source_table[l].sources);
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
            lane_init(lane, plan, model->rank);
        else
            connected = lane_connect(lane, plan, world, error);
        if (model->description->reference_delivery) lane->deliver = deliver_reference;
        // How many bits the step within a window takes decides how many are left for the list.
        lane->format = spike_format((uint64_t)plan->period * model->description->steps_per_cycle);
        lane->tables = ALLOC_ZERO(struct synapse_table, (size_t)model->threads);
        model->n_lanes++;
    }
    return connected;
}

/// Opens the lanes of a dry run, in which other ranks are made up: routes are computed instead of asked for,
/// and `foreign` stands for the spikes of the others.
static bool open_lanes_dry(struct model *model, struct lists *lists, const uint32_t *gids,
                           struct error *error) {
    bool good = true;
    // What other ranks would say is found without them.
    dry_hooks->open_routes(model, lists->source_table, gids, model->dry->exact_routes);
    for (int l = 0; l < model->n_lanes; l++) {
        struct lane *lane = &model->lanes[l];
        uint32_t *per_owner = lists->source_table[l].per_owner;
        lists->source_table[l].per_owner = NULL;
        if (lane->ranks > 1) lane->foreign = dry_hooks->open_foreign(model, l, &lists->source_table[l]);
        good = lane_open_dry(lane, per_owner, error) && good;
        free(per_owner);
    }
    dry_hooks->end_routes(model->dry);
    return good;
}

bool build(struct model *model, const struct description *description, const struct placement *placement,
           const struct schedule *schedule, MPI_Comm world, struct dry *dry, struct error *error) {
    *model = (struct model){
        .description = description, .placement = placement, .schedule = schedule, .world = world, .dry = dry};
    // A dry run is one process that takes the place of any rank; otherwise both numbers are the same.
    MPI_Comm_rank(world, &model->process);
    MPI_Comm_size(world, &model->processes);
    model->rank = dry ? dry->rank : model->process;
    model->ranks = placement->ranks;
    model->threads = placement->threads;
    // Step 1 of the head: weights, neuron models, communicators.
    build_weights(model);
    model->neuron_models = ALLOC(struct population_model, description->network.n_populations);
    for (uint32_t p = 0; p < description->network.n_populations;
         p++) // one thread, since it fills in defaults
        neuron_model_read(&description->network.populations[p], &model->neuron_models[p].model,
                          model->neuron_models[p].parameters, error);
    if (!agree(world, error) || !connect_lanes(model, world, error)) return false;
    // Step 2: the neurons of each thread.
    model->parts = ALLOC_ZERO(struct part *, (size_t)model->threads);
#pragma omp parallel num_threads(model->threads)
    {
        int thread = omp_get_thread_num();
        model->parts[thread] = open_part(model, thread);
    }
    uint32_t *gids = number_neurons(model);

    for (int l = 0; l < model->n_lanes; l++)
        if (model->lanes[l].backend->broadcast && schedule->lanes[l].shortest_delay > 0) // words name neurons
            lists_check_words(&schedule->lanes[l], description, model->neurons, error);
    // Steps 3 to 5: the synapses.
    struct lists lists;
    lists_open(&lists, model);
    if (!error_stands(error)) build_tables(model, &lists, error);
    lists_close_buckets(&lists, model);
    // Step 6: routes and exchanges, lane by lane.
    bool built = agree(world, error);
    if (built && dry) built = open_lanes_dry(model, &lists, gids, error);
    for (int l = 0; built && !dry && l < model->n_lanes; l++) {
        lane_open(&model->lanes[l], &lists.source_table[l], gids, model->neurons, error);
        source_table_close(&lists.source_table[l]);
        built = agree(world, error);
    }
    lists_close(&lists, model);
    free(gids);
    return built;
}

void build_reset_counts(struct model *model) {
    for (int t = 0; t < model->threads; t++) model->parts[t]->counts = (struct part_counts){0};
    for (int l = 0; l < model->n_lanes; l++) lane_reset_counts(&model->lanes[l]);
    if (model->dry) dry_hooks->reset(model->dry, model->lanes, model->n_lanes);
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

const char *const memory_kind_names[memory_kinds] = {"neurons", "synapses", "lists",
                                                     "routes",  "ring",     "buffers"};

void build_bytes(const struct model *model, uint64_t bytes[memory_kinds]) {
    // In the order of memory_kind_names.
    enum { neurons, synapses, lists, routes, ring, buffers };
    memset(bytes, 0, memory_kinds * sizeof *bytes);
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
            // The synapses themselves count as synapses; what finds them counts as lists.
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
