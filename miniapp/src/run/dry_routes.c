#include "run/dry_routes.h"

#include "base/alloc.h"
#include "description/draw.h"
#include "schedule/lane_sources.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/// A neuron of this rank.
struct owned {
    uint32_t gid, neuron, population;
};

/// State while the routes of all lanes are made.
struct search_for_targets {
    struct model *model;
    struct owned *owned; ///< [neurons] by id
    int *lanes;          ///< [projections] lane of all their synapses, or -1
    uint64_t *sources;   ///< [lanes][source_words] a bit for each neuron of the network, of one rank
    size_t source_words;
    struct found {
        uint64_t *wants; ///< [ranks of the lane][neuron_words] a bit for each own neuron, by id
        size_t neuron_words;
        uint32_t *lists; ///< [n] their numbers there, by rank and id
        size_t n, capacity;
    } * found; ///< [lanes]
};

static int by_gid(const void *a, const void *b) {
    uint32_t x = ((const struct owned *)a)->gid, y = ((const struct owned *)b)->gid;
    return (x > y) - (x < y);
}

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

static void end_search(struct search_for_targets *s) {
    for (int l = 0; l < s->model->n_lanes; l++) {
        free(s->found[l].wants);
        free(s->found[l].lists);
    }
    free(s->found);
    free(s->owned);
    free(s->lanes);
    free(s->sources);
}

/// Notes that the rank of number `place` in the lane has list `list` of the i-th own neuron by id.
static void add(struct search_for_targets *s, int lane, int place, uint32_t i, uint32_t list) {
    struct found *found = &s->found[lane];
    if (found->n == found->capacity) {
        found->capacity = 2 * found->capacity + s->model->neurons;
        uint32_t *lists = ALLOC(uint32_t, found->capacity);
        if (found->n) memcpy(lists, found->lists, found->n * sizeof *lists);
        free(found->lists);
        found->lists = lists;
    }
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

/// Draws the sources of all synapses of another rank.
static void draw_sources(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    const struct network *network = &model->description->network;
    memset(s->sources, 0, (size_t)model->n_lanes * s->source_words * sizeof *s->sources);
#pragma omp parallel num_threads(model->threads)
    for (uint32_t p = 0; p < network->n_projections; p++) {
        const uint32_t *deals = &model->placement->first_deal[network->projections[p].target];
        for (uint32_t k = deals[0]; k < deals[1]; k++) {
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

/// Adds lists that another rank may have of the own neurons, at random.
static void find_at_random(struct search_for_targets *s, int rank) {
    const struct model *model = s->model;
    const struct network *network = &model->description->network;
    const size_t populations = network->n_populations;
    double synapses[schedule_lanes_max] = {0}, *own = ALLOC_ZERO(double, populations);
    double *log_missed = ALLOC_ZERO(double, (size_t)model->n_lanes *populations);
    for (uint32_t p = 0; p < populations; p++) own[p] = placement_count(model->placement, p, rank);
    lane_sources_expect(model->schedule, network, own, synapses, log_missed);
    for (int l = 0; l < model->n_lanes; l++)
        for (uint32_t i = 0; shares(model, l, rank) && i < model->neurons; i++) {
            const struct owned *owned = &s->owned[i];
            const struct rng_words drawn = rng_draw(
                network->seed, rng_dry_run, (uint32_t)(populations + (size_t)l), owned->gid, (uint32_t)rank);
            if (rng_uniform(drawn.word[0]) < -expm1(log_missed[(size_t)l * populations + owned->population]))
                add(s, l, model->lanes[l].plan->groups.place[rank], i, owned->neuron);
        }
    free(own);
    free(log_missed);
}

/// Adds the lists that this rank has of its own neurons, which it knows.
static void find_own(struct search_for_targets *s, const struct wanted *wanted) {
    for (int l = 0; l < s->model->n_lanes; l++) {
        const int place = s->model->lanes[l].place;
        struct wanted_cursor cursor = wanted_from(&wanted[l], 0);
        uint32_t i = 0;
        for (uint64_t list = 0; list < wanted[l].lists; list++) {
            int owner;
            const uint32_t gid = wanted_next(&cursor, &owner);
            if (owner != place) continue;
            while (s->owned[i].gid < gid) i++;
            add(s, l, place, i, (uint32_t)list);
        }
    }
}

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
    size_t sum = 0;
    for (uint32_t i = 0; i <= n; i++) sum = routes->first[i] += sum;
    routes->route = ALLOC(struct route, sum);
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
    memmove(routes->first + 1, routes->first, n * sizeof *routes->first);
    routes->first[0] = 0;
}

/// Opens the search of a broadcast. Neurons of other ranks are numbered in the order of the lists that this
/// rank has of them, since which others their ranks have makes no difference here (run/foreign.c).
static void open_search(const struct search_for_targets *s, int l, const struct wanted *wanted) {
    struct lane *lane = &s->model->lanes[l];
    uint32_t *known = ALLOC_ZERO(uint32_t, (size_t)lane->ranks), i = 0;
    search_open(&lane->search, lane->ranks, wanted->per_owner);
    struct wanted_cursor cursor = wanted_from(wanted, 0);
    for (uint64_t list = 0; list < wanted->lists; list++) {
        int owner;
        const uint32_t gid = wanted_next(&cursor, &owner);
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

void dry_routes_open(struct model *model, const struct wanted *wanted, const uint32_t *own_gids, bool exact) {
    struct search_for_targets s;
    begin_search(&s, model, own_gids);
    s.source_words = model->description->network.n_neurons / 64 + 1;
    if (exact) s.sources = ALLOC(uint64_t, (size_t)model->n_lanes * s.source_words);
    for (int rank = 0; rank < model->ranks; rank++) {
        bool any = false;
        for (int l = 0; l < model->n_lanes; l++) any = any || shares(model, l, rank);
        if (rank == model->rank)
            find_own(&s, wanted);
        else if (any)
            (exact ? find_exactly : find_at_random)(&s, rank);
    }
    for (int l = 0; l < model->n_lanes; l++) {
        make_routes(&s, l);
        if (model->lanes[l].backend->broadcast) open_search(&s, l, &wanted[l]);
    }
    end_search(&s);
}
