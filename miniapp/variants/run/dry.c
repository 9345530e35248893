#include "run/dry.h"

#include "measurement/clock.h"
#include "run/build.h"
#include <omp.h>

bool dry_check(struct dry *dry, const struct description *description, struct error *error) {
    const struct network *network = &description->network;
    const struct population *unknown = NULL;
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (network->populations[p].size > 0 && !neuron_model_find(network->populations[p].model)->train)
            unknown = &network->populations[p];
    dry->exact_spikes = !unknown;
    const double draws = (double)network_synapses(network);
    const double most = dry->of <= dry_ranks_most ? dry_draws_most : dry_draws_few;
    dry->exact_routes = dry->routing == routing_exact || (dry->routing == routing_by_size && draws <= most);
    if (unknown && isnan(dry->rate_hz))
        return error_set(error,
                         "--rate: missing, and the rate of population %.60s (%.40s) is unknown, since its "
                         "spikes depend on what it receives; expected the spikes/s of such neurons",
                         unknown->name, unknown->model);
    if (!unknown && !isnan(dry->rate_hz))
        return error_set(error, "--rate: %.10g; expected none, since the spikes of all neurons are known",
                         dry->rate_hz);
    return true;
}

void dry_end_routes(struct dry *dry) {
    dry->routes_s += clock_now();
}

static uint64_t words(const struct lane *lanes, int n) {
    uint64_t sum = 0;
    for (int l = 0; l < n; l++) sum += lane_words(&lanes[l]);
    return sum;
}

void dry_reset(struct dry *dry, const struct lane *lanes, int n) {
    dry->prepare_s = dry->inbox_s = 0;
    dry->reference = words(lanes, n);
}

void dry_exchange(struct dry *dry, struct lane *lane, uint32_t next, bool all) {
    const double begin = clock_now();
    lane_make_up(lane, next);
    const double prepared = clock_now();
    lane_start(lane, next);
    lane_finish(lane, all);
    dry->inbox_s += clock_now() - prepared;
    dry->prepare_s += prepared - begin;
}

void dry_end(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n) {
    static const enum phase of_others[] = {phase_synchronise, phase_exchange, phase_overlap_wait};
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) cycle_log_unmeasured(log, of_others[i]);
    dry->words = words(lanes, n) - dry->reference;
}

// -------------------- dry_routes

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
    double *own, *chances; ///< [populations] neurons of a rank, [lanes][populations] that it has a list
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
/// rank has of them, since which others their ranks have makes no difference here.
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
    model->dry->routes_s = -clock_now();
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

// -------------------- foreign

/// A spike while it is sorted.
struct made_spike {
    uint32_t owner; ///< its rank
    uint32_t order; ///< when that would send it: by cycle of the window, thread and step
    uint32_t gid, word;
};

struct foreign {
    const struct model *model;
    const struct lane *lane;
    struct wanted wanted;
    double spikes_per_step;        ///< expected
    uint32_t steps;                ///< of a window
    uint32_t warmup, end;          ///< steps at which the warm-up and the run end, and with them a window
    struct neuron_setup *setup;    ///< [populations]
    uint32_t first_step, end_step; ///< of what is prepared
    uint32_t windows;              ///< prepared
    uint32_t sets, set_ranks;      ///< of set_ranks ranks, whose spikes of a window are sorted together
    uint64_t *start;               ///< [windows x sets + 1] place of the spikes of a window and a set
    uint32_t *words;               ///< of all spikes
    uint64_t *first_run;           ///< [windows + 1]
    struct made_up_run *runs;      ///< the words of a window that come from one rank
};

/// Returns the step before which the window from step `first` on ends.
static uint32_t window_end(const struct foreign *f, uint32_t first) {
    const uint32_t last = first < f->warmup ? f->warmup : f->end;
    return last - first < f->steps ? last : first + f->steps;
}

/// Returns the spikes of a neuron at the given rate. Where its interval is no whole number of steps, one of
/// the two next to it is drawn, so that the mean is right.
static struct train drawn_train(const struct foreign *f, uint32_t population, uint32_t gid) {
    const struct network *network = &f->model->description->network;
    const double steps = 1000 / (f->model->dry->rate_hz * f->model->description->given.resolution_ms);
    const struct rng_words drawn = rng_draw(network->seed, rng_dry_run, population, gid, 0);
    if (!(steps < train_silent - 1)) return (struct train){train_silent, 0};
    const uint32_t interval = (uint32_t)fmax(1, steps + rng_uniform(drawn.word[0]));
    return (struct train){interval, rng_below(drawn.word[1], drawn.word[2], interval)};
}

static struct train train_of(const struct foreign *f, uint32_t population, uint32_t gid) {
    const struct neuron_model *model = f->model->neuron_models[population].model;
    return model->train ? model->train(&f->setup[population], gid) : drawn_train(f, population, gid);
}

struct foreign *foreign_open(const struct model *model, int lane, struct wanted *wanted) {
    const struct description *d = model->description;
    const struct network *network = &d->network;
    struct foreign *f = ALLOC(struct foreign, 1);
    *f = (struct foreign){.model = model, .lane = &model->lanes[lane], .wanted = *wanted};
    *wanted = (struct wanted){0};
    f->warmup = d->warmup_cycles * d->steps_per_cycle;
    f->end = f->warmup + d->cycles * d->steps_per_cycle;
    const uint64_t steps = (uint64_t)f->lane->plan->period * d->steps_per_cycle;
    f->steps = steps < f->end ? (uint32_t)steps : f->end;
    f->setup = ALLOC_ZERO(struct neuron_setup, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        f->setup[p] = (struct neuron_setup){.seed = network->seed,
                                            .resolution_ms = d->given.resolution_ms,
                                            .input_unit = network->weight_unit,
                                            .population = p};
        memcpy(f->setup[p].parameters, model->neuron_models[p].parameters, sizeof f->setup[p].parameters);
    }
    struct wanted_cursor cursor = wanted_from(&f->wanted, 0);
    for (uint64_t list = 0; list < f->wanted.lists; list++) {
        int owner;
        const uint32_t gid = wanted_next(&cursor, &owner);
        const struct train train = train_of(f, cursor.deal->population, gid);
        if (owner != f->lane->place && train.interval != train_silent)
            f->spikes_per_step += 1.0 / train.interval;
    }
    // About as many sets as spikes of a window: memory and time follow these, not the ranks of the machine.
    const double ranks = f->lane->ranks, sets = fmin(ranks, fmax(1, f->spikes_per_step * f->steps));
    f->set_ranks = (uint32_t)ceil(ranks / sets);
    f->sets = ((uint32_t)f->lane->ranks - 1) / f->set_ranks + 1;
    return f;
}

/// A source neuron, and where its spikes go.
struct source {
    uint32_t gid, name; ///< name: of its list here, or of a broadcast its number on its rank
    int owner, thread;
    struct train train;
};

/// Calls `take` for every source on another rank, in the order of ids.
static void for_each_source(struct foreign *f, void *context,
                            void (*take)(struct foreign *, const struct source *, void *)) {
    uint32_t *known = ALLOC_ZERO(uint32_t, (size_t)f->lane->ranks); // sources of each rank so far
    struct wanted_cursor cursor = wanted_from(&f->wanted, 0);
    for (uint64_t list = 0; list < f->wanted.lists; list++) {
        struct source source = {.name = (uint32_t)list};
        source.gid = wanted_next(&cursor, &source.owner);
        if (f->lane->backend->broadcast) source.name = known[source.owner]++;
        if (source.owner == f->lane->place) continue;
        source.thread = deal_thread(cursor.deal, f->model->threads, source.gid);
        source.train = train_of(f, cursor.deal->population, source.gid);
        if (source.train.interval != train_silent) take(f, &source, context);
    }
    free(known);
}

/// Returns the first spike of a train from step `step` on.
static uint64_t first_spike(const struct train *train, uint32_t step) {
    if (step <= train->phase) return train->phase;
    const uint64_t passed = ((uint64_t)step - train->phase + train->interval - 1) / train->interval;
    return train->phase + passed * train->interval;
}

/// Returns the window, counted from the first that is prepared, in which a step lies.
static uint32_t window_of(const struct foreign *f, uint32_t step) {
    return (step - f->first_step) / f->steps; // they all lie on one side of the end of the warm-up
}

/// Returns where the spikes that a rank fires at a step are counted.
static size_t cell_of(const struct foreign *f, uint64_t step, int owner) {
    return (size_t)window_of(f, (uint32_t)step) * f->sets + (uint32_t)owner / f->set_ranks;
}

static void count(struct foreign *f, const struct source *source, void *context) {
    (void)context;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval)
        f->start[cell_of(f, step, source->owner) + 1]++;
}

/// Puts the spikes of a source where those of its set and their windows go; start[] moves on.
static void put(struct foreign *f, const struct source *source, void *context) {
    const uint32_t steps = f->model->description->steps_per_cycle, threads = (uint32_t)f->model->threads;
    struct made_spike *spikes = context;
    for (uint64_t step = first_spike(&source->train, f->first_step); step < f->end_step;
         step += source->train.interval) {
        const uint32_t within = (uint32_t)step - (f->first_step + window_of(f, (uint32_t)step) * f->steps);
        const uint64_t order =
            ((uint64_t)(within / steps) * threads + (uint32_t)source->thread) * steps + within % steps;
        spikes[f->start[cell_of(f, step, source->owner)]++] =
            (struct made_spike){(uint32_t)source->owner, order < UINT32_MAX ? (uint32_t)order : UINT32_MAX,
                                source->gid, spike_pack(f->lane->format, source->name, within)};
    }
}

static int by_order(const void *a, const void *b) {
    const struct made_spike *x = a, *y = b;
    if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->gid > y->gid) - (x->gid < y->gid);
}

/// Turns the sorted spikes of a window into words, and adds a run for each rank that has some.
static void pack(struct foreign *f, uint32_t window, const struct made_spike *spikes) {
    const struct wire_format *wire = f->lane->plan->wire;
    const uint32_t first = f->first_step + window * f->steps, wide = (uint32_t)wire->words;
    const uint64_t begin = f->start[(size_t)window * f->sets], end = f->start[(size_t)(window + 1) * f->sets];
    uint64_t run = f->first_run[window];
    for (uint64_t i = begin; i < end; i++) {
        wire_pack(wire, f->words + i * wide, spikes[i].word, spikes[i].gid,
                  first + spike_step(f->lane->format, spikes[i].word));
        if (i == begin || spikes[i].owner != spikes[i - 1].owner)
            f->runs[run++] = (struct made_up_run){(int)spikes[i].owner, 0};
        f->runs[run - 1].count += wide;
    }
    f->first_run[window + 1] = run;
}

static void free_prepared(struct foreign *f) {
    FREE(f->start, f->words, f->first_run, f->runs);
}

static void prepare(struct foreign *f, uint32_t first) {
    const uint32_t last = first < f->warmup ? f->warmup : f->end;
    const double ahead = f->model->dry->spikes_ahead; // and half as many sets
    const double most = fmin(ahead / (f->spikes_per_step * f->steps), ahead / 2 / f->sets);
    f->first_step = first;
    f->end_step = window_end(f, first);
    f->windows = 1;
    while (f->windows + 1 <= most && f->end_step < last) {
        f->end_step = window_end(f, f->end_step);
        f->windows++;
    }
    const size_t cells = (size_t)f->windows * f->sets;
    free_prepared(f);
    f->start = ALLOC_ZERO(uint64_t, cells + 1);
    for_each_source(f, NULL, count);
    for (size_t i = 0; i < cells; i++) f->start[i + 1] += f->start[i];
    const uint64_t n = f->start[cells];
    struct made_spike *spikes = ALLOC(struct made_spike, n);
    for_each_source(f, spikes, put);
    memmove(f->start + 1, f->start, cells * sizeof *f->start);
    f->start[0] = 0;
    for (size_t i = 0; i < cells; i++)
        qsort(spikes + f->start[i], f->start[i + 1] - f->start[i], sizeof *spikes, by_order);
    f->words = ALLOC(uint32_t, n * (uint64_t)f->lane->plan->wire->words);
    f->runs = ALLOC(struct made_up_run, n);
    f->first_run = ALLOC_ZERO(uint64_t, (size_t)f->windows + 1);
    for (uint32_t window = 0; window < f->windows; window++) pack(f, window, spikes);
    free(spikes);
}

struct made_up_words foreign_window(struct foreign *f, uint32_t first, uint32_t end) {
    if (end != window_end(f, first)) fatal("dry run: a window that no lane has");
    if (!f->start || first < f->first_step || first >= f->end_step) prepare(f, first);
    const size_t window = window_of(f, first);
    const uint64_t run = f->first_run[window], wide = (uint64_t)f->lane->plan->wire->words;
    return (struct made_up_words){f->words + f->start[window * f->sets] * wide, f->runs + run,
                                  f->first_run[window + 1] - run};
}

void foreign_close(struct foreign *f) {
    if (!f) return;
    wanted_close(&f->wanted);
    free(f->setup);
    free_prepared(f);
    free(f);
}
