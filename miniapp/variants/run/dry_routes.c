/// \file
/// Draws the sources of the other ranks again, or draws pairs at random, and makes routes of what it
/// finds.
///
/// In a run, each rank tells the owners which of their neurons it has lists of. Here nobody tells, so it has
/// to be found for each other rank. Exactly (find_exactly()): draw all its synapses as it would do, and mark
/// their sources; the number of a list there is the number of marks before it. At random (find_at_random()):
/// draw for each own neuron whether that rank has a list of it, with the probability that the network gives.
/// make_routes() then turns what was found into the structure that routes_open() would make.
///
/// Cost, exactly: a draw for each synapse of the network; memory: a bit for each of its neurons and lanes. At
/// random: a draw for each own neuron, rank and lane.

#include "run/dry_routes.h"

#include "base/alloc.h"
#include "description/network_draw.h"
#include "measurement/clock.h"
#include "schedule/lane_sources.h"
#include "schedule/schedule.h"
#include "transport/source_table.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/// A neuron of this rank.
struct owned {
    uint32_t gid;        ///< id in the network
    uint32_t neuron;     ///< number on this rank
    uint32_t population; ///< number in the network
};

/// State while the routes of all lanes are made.
struct search_for_targets {
    struct model *model; ///< of the emulated rank; borrowed
    struct owned *owned; ///< [neurons] by id
    int *lanes;          ///< [projections] lane of all their synapses, or -1
    uint64_t *sources;   ///< [lanes][source_words] a bit for each neuron of the network, of one rank
    size_t source_words;
    double *own, *chances; ///< [populations] neurons of a rank, [lanes][populations] that it has a list
    struct found {
        uint64_t *wants; ///< [ranks of the lane][neuron_words] a bit for each own neuron, by id
        size_t neuron_words;
        uint32_t *lists; ///< [n] their numbers there, by rank and id
        size_t n, capacity;
    } * found; ///< [lanes]
};

/// Compares own neurons by id, for qsort().
static int by_gid(const void *a, const void *b) {
    uint32_t x = ((const struct owned *)a)->gid, y = ((const struct owned *)b)->gid;
    return (x > y) - (x < y);
}

/// Sorts the own neurons by id, and takes room for what will be found.
static void begin_search(struct search_for_targets *s, struct model *model, const uint32_t *own_gids) {
    const struct network *network = &model->description->network;
    *s = (struct search_for_targets){.model = model};
    s->owned = ALLOC(struct owned, model->neurons);
    for (uint32_t i = 0; i < model->neurons; i++)
        s->owned[i] = (struct owned){own_gids[i], i, network_population(network, own_gids[i])};
    qsort(s->owned, model->neurons, sizeof *s->owned, by_gid);
    s->lanes = ALLOC(int, network->n_projections);
    for (uint32_t p = 0; p < network->n_projections; p++)
        s->lanes[p] = schedule_projection_lane(model->schedule, network, &network->projections[p]);
    s->found = ALLOC_ZERO(struct found, (size_t)model->n_lanes);
    for (int l = 0; l < model->n_lanes; l++) {
        s->found[l].neuron_words = model->neurons / 64 + 1;
        s->found[l].wants = ALLOC_ZERO(uint64_t, s->found[l].neuron_words * (size_t)model->lanes[l].ranks);
    }
}

/// Frees the state; the routes stay.
static void end_search(struct search_for_targets *s) {
    for (int l = 0; l < s->model->n_lanes; l++) {
        FREE(s->found[l].wants, s->found[l].lists);
    }
    FREE(s->found, s->owned, s->lanes, s->sources, s->own, s->chances);
}

/// Notes that the rank of number `place` in the lane has list `list` of the i-th own neuron by id.
static void add(struct search_for_targets *s, int lane, int place, uint32_t i, uint32_t list) {
    struct found *found = &s->found[lane];
    found->lists = alloc_room(found->lists, &found->capacity, found->n + 1, sizeof *found->lists);
    found->wants[(size_t)place * found->neuron_words + i / 64] |= (uint64_t)1 << i % 64;
    found->lists[found->n++] = list;
}

/// Says whether another rank exchanges with this one in a lane.
static bool shares(const struct model *model, int lane, int rank) {
    const struct grouping *groups = &model->lanes[lane].plan->groups;
    return groups->first[rank] == groups->first[model->rank];
}

/// Marks the sources of the synapses of one neuron of another rank. Threads share the bits.
static void mark(struct search_for_targets *s, uint32_t projection, uint32_t gid) {
    const struct network *network = &s->model->description->network;
    const uint32_t indegree = network_indegree(network, projection, gid);
    const uint32_t target_area = network->populations[network->projections[projection].target].area;
    uint32_t source[network_batch];
    for (uint32_t k = 0; k < indegree; k += network_batch) {
        const uint32_t rest = indegree - k, n = rest < network_batch ? rest : network_batch;
        network_draw(network, projection, gid, k, n, source, NULL, NULL);
        for (uint32_t i = 0; i < n; i++) {
            int lane = s->lanes[projection];
            if (lane < 0)
                lane = schedule_lane(s->model->schedule, network_area(network, source[i]), target_area);
            uint64_t *word = s->sources + (size_t)lane * s->source_words + source[i] / 64;
            const uint64_t bit = (uint64_t)1 << source[i] % 64;
            if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
                __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
        }
    }
}

/// Draws all synapses of a rank on all threads, and marks their sources.
static void draw_sources(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    const struct network *network = &model->description->network;
    memset(s->sources, 0, (size_t)model->n_lanes * s->source_words * sizeof *s->sources);
#pragma omp parallel num_threads(model->threads)
    for (uint32_t p = 0; p < network->n_projections; p++) {
        const uint32_t *ranges = &model->placement->first_range[network->projections[p].target];
        for (uint32_t k = ranges[0]; k < ranges[1]; k++) {
            const struct share share = placement_share(model->placement, k, rank, omp_get_thread_num());
            for (uint32_t i = 0; i < share.count; i++) mark(s, p, share.first + i * share.stride);
        }
    }
}

/// Adds the lists that another rank has of the own neurons, exactly. They are numbered by the ids of their
/// sources.
static void find_exactly(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    draw_sources(s, rank);
    for (int l = 0; l < model->n_lanes; l++) {
        if (!shares(model, l, rank)) continue;
        const uint64_t *sources = s->sources + (size_t)l * s->source_words;
        uint32_t list = 0;
        size_t word = 0;
        for (uint32_t i = 0; i < model->neurons; i++) {
            const uint32_t gid = s->owned[i].gid;
            for (; word < gid / 64; word++) list += (uint32_t)__builtin_popcountll(sources[word]);
            const uint64_t bit = (uint64_t)1 << gid % 64;
            if (sources[word] & bit)
                add(s, l, model->lanes[l].plan->groups.place[rank], i,
                    list + (uint32_t)__builtin_popcountll(sources[word] & (bit - 1)));
        }
    }
}

/// Finds how probable it is that a rank has a list of a neuron. Ranks with as many neurons of each population
/// as the one before have the same probabilities: most ranks of a large machine.
static void find_chances(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    const struct network *network = &model->description->network;
    const size_t populations = network->n_populations, n = (size_t)model->n_lanes * populations;
    double synapses[schedule_lanes_max] = {0};
    bool same = s->chances != NULL;
    if (!same) {
        s->own = ALLOC(double, populations);
        s->chances = ALLOC(double, n);
    }
    for (uint32_t p = 0; p < populations; p++) {
        const double own = placement_count(model->placement, p, rank);
        same = same && own == s->own[p];
        s->own[p] = own;
    }
    if (same) return;
    memset(s->chances, 0, n * sizeof *s->chances);
    lane_sources_expect(model->schedule, network, s->own, synapses, s->chances);
    for (size_t i = 0; i < n; i++) s->chances[i] = -expm1(s->chances[i]);
}

/// Adds lists that another rank may have of the own neurons, at random.
static void find_at_random(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    const struct network *network = &model->description->network;
    const size_t populations = network->n_populations;
    find_chances(s, rank);
    for (int l = 0; l < model->n_lanes; l++)
        for (uint32_t i = 0; shares(model, l, rank) && i < model->neurons; i++) {
            const struct owned *owned = &s->owned[i];
            const struct rng_words drawn = rng_draw(
                network->seed, rng_dry_run, (uint32_t)(populations + (size_t)l), owned->gid, (uint32_t)rank);
            if (rng_uniform(drawn.word[0]) < s->chances[(size_t)l * populations + owned->population])
                add(s, l, model->lanes[l].plan->groups.place[rank], i, owned->neuron);
        }
}

/// Adds the lists that this rank has of its own neurons, which it knows.
static void find_own(struct search_for_targets *s, const struct source_table *source_table) {
    for (int l = 0; l < s->model->n_lanes; l++) {
        const int place = s->model->lanes[l].place;
        struct source_cursor cursor = source_cursor_at(&source_table[l], 0);
        uint32_t i = 0;
        for (uint64_t list = 0; list < source_table[l].lists; list++) {
            int owner;
            const uint32_t gid = source_cursor_next(&cursor, &owner);
            if (owner != place) continue;
            while (s->owned[i].gid < gid) i++;
            add(s, l, place, i, (uint32_t)list);
        }
    }
}

/// Says whether a rank wants the spikes of the i-th own neuron by id.
static bool wants(const struct found *found, int place, uint32_t i) {
    return found->wants[(size_t)place * found->neuron_words + i / 64] >> i % 64 & 1;
}

/// Makes one route for each neuron and each rank that wants it, or for a broadcast one for each neuron that
/// any rank wants.
static void make_routes(const struct search_for_targets *s, int l) {
    struct lane *lane = &s->model->lanes[l];
    const struct found *found = &s->found[l];
    const uint32_t n = s->model->neurons;
    struct routes *routes = &lane->routes;
    *routes = (struct routes){.neurons = n,
                              .first = ALLOC_ZERO(size_t, (size_t)n + 1),
                              .target = ALLOC_ZERO(bool, (size_t)lane->ranks)};
    for (int place = 0; place < lane->ranks; place++)
        for (uint32_t i = 0; i < n; i++) {
            if (!wants(found, place, i)) continue;
            routes->target[place] = true;
            size_t *count = &routes->first[s->owned[i].neuron];
            *count = lane->backend->broadcast ? 1 : *count + 1;
        }
    // From counts to the places where the routes of a neuron end.
    size_t sum = 0;
    for (uint32_t i = 0; i <= n; i++) {
        sum += routes->first[i];
        routes->first[i] = sum;
    }
    routes->route = ALLOC(struct route, sum);
    // Routes are put from the end of each neuron's to their beginning, so that `first` is right afterwards.
    size_t k = 0;
    for (int place = 0; place < lane->ranks; place++)
        for (uint32_t i = 0; i < n; i++) {
            if (!wants(found, place, i)) continue;
            const uint32_t neuron = s->owned[i].neuron, list = found->lists[k++];
            if (!lane->backend->broadcast)
                routes->route[--routes->first[neuron]] = (struct route){place, list};
        }
    for (uint32_t i = 0; lane->backend->broadcast && i < n; i++) {
        const bool wanted = routes->first[i] > (i ? routes->first[i - 1] : 0);
        if (wanted) routes->route[routes->first[i] - 1] = (struct route){0, i};
    }
    if (!lane->backend->broadcast) return;
    // One route of a neuron was put at its end, so that `first` still holds ends: each is where the next
    // begins.
    memmove(routes->first + 1, routes->first, n * sizeof *routes->first);
    routes->first[0] = 0;
}

/// Opens the search of a broadcast. Neurons of other ranks are numbered in the order of the lists that this
/// rank has of them, since which others their ranks have makes no difference here.
static void open_search(const struct search_for_targets *s, int l, const struct source_table *source_table) {
    struct lane *lane = &s->model->lanes[l];
    uint32_t *known = ALLOC_ZERO(uint32_t, (size_t)lane->ranks), i = 0;
    search_open(&lane->search, lane->ranks, source_table->per_owner);
    struct source_cursor cursor = source_cursor_at(source_table, 0);
    for (uint64_t list = 0; list < source_table->lists; list++) {
        int owner;
        const uint32_t gid = source_cursor_next(&cursor, &owner);
        uint32_t number = known[owner]++;
        if (owner == lane->place) {
            while (s->owned[i].gid < gid) i++;
            number = s->owned[i].neuron;
        }
        search_add(&lane->search, owner, number, (uint32_t)list);
    }
    search_sort(&lane->search);
    free(known);
}

void dry_routes_open(struct model *model, const struct source_table *source_table, const uint32_t *own_gids,
                     bool exact) {
    struct search_for_targets s;
    model->dry->routes_s = -clock_now();
    begin_search(&s, model, own_gids);
    s.source_words = model->description->network.n_neurons / 64 + 1;
    // Only ranks that exchange with this one in some lane are looked at.
    if (exact) s.sources = ALLOC(uint64_t, (size_t)model->n_lanes * s.source_words);
    for (int rank = 0; rank < model->ranks; rank++) {
        bool any = false;
        for (int l = 0; l < model->n_lanes; l++) any = any || shares(model, l, rank);
        if (rank == model->rank)
            find_own(&s, source_table);
        else if (any)
            (exact ? find_exactly : find_at_random)(&s, rank);
    }
    for (int l = 0; l < model->n_lanes; l++) {
        make_routes(&s, l);
        if (model->lanes[l].backend->broadcast) open_search(&s, l, &source_table[l]);
    }
    end_search(&s);
}
