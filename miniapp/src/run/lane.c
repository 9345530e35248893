#include "run/lane.h"

#include "measurement/clock.h"
#include "run/dry.h"

/// Refuses a back-end between ranks of several nodes where it needs shared memory. Collective over `comm`.
static void check(const struct exchange_backend *backend, const char *lane, MPI_Comm comm,
                  struct error *error) {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (comm_size(node) < comm_size(comm))
        error_set(error,
                  "exchange: \"%s\" for lane %s, between ranks of several nodes; expected another exchange",
                  backend->name, lane);
    MPI_Comm_free(&node);
}

/// Refuses the exchange of a lane, or one of its parts, that needs shared memory between ranks of several
/// nodes. Collective over `comm`, the ranks that exchange. Only some of them may find the error.
static void lane_check_nodes(const struct lane_plan *plan, MPI_Comm comm, struct error *error) {
    const struct exchange_backend *backend = plan->exchange.backend;
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    if (backend->one_node) check(backend, plan->name, comm, error);
    const struct grid grid = grid_of(&plan->exchange.levels, ranks, rank);
    for (int level = 0; level < grid.levels.n; level++)
        for (int round = 0; grid.levels.part[level]->one_node && round < grid_rounds(&grid, level); round++) {
            const struct grid_line line = grid_line(&grid, level, round);
            MPI_Comm own;
            MPI_Comm_split(comm, line.name >= 0 ? line.name : MPI_UNDEFINED, grid.own, &own);
            if (line.name < 0) continue;
            check(grid.levels.part[level], plan->name, own, error);
            MPI_Comm_free(&own);
        }
}

static uint32_t windows(const struct lane *lane) {
    return lane->plan->lag + 1;
}

void lane_connect_alone(struct lane *lane, const struct lane_plan *plan, int rank) {
    *lane = (struct lane){.plan = plan, .comm = MPI_COMM_SELF, .backend = exchange_find("self")};
    lane->ranks = plan->groups.size[rank];
    lane->place = plan->groups.place[rank];
    if (lane->ranks > 1) lane->backend = plan->exchange.backend;
}

bool lane_connect(struct lane *lane, const struct lane_plan *plan, MPI_Comm world, struct error *error) {
    const int rank = comm_rank(world);
    lane_connect_alone(lane, plan, rank);
    MPI_Comm comm;
    MPI_Comm_split(world, plan->groups.first[rank], rank, &comm); // numbers ranks as groups.place does
    if (lane->ranks == 1) {
        MPI_Comm_free(&comm);
    } else {
        lane->comm = comm;
        lane_check_nodes(plan, comm, error);
        // In simulated time, words from all ranks to all ranks take minutes where there are many ranks.
        const bool cheap = !time_is_simulated || lane->ranks <= 16;
        if (agree(comm, error) && cheap) exchange_check(&plan->exchange, comm, error);
    }
    return agree(world, error);
}

/// Returns the destinations to which routes lead, and how many they are.
static int *destinations(const struct lane *lane, const struct partners *partners, int *n) {
    const int ranks = exchange_destinations(lane->backend, lane->ranks);
    int *to = ALLOC(int, (size_t)ranks);
    *n = 0;
    if (lane->fanout) { // routes lead to bridges
        bool *led = ALLOC_ZERO(bool, (size_t)ranks);
        for (size_t i = 0; i < lane->routes.first[lane->routes.neurons]; i++)
            led[lane->routes.route[i].rank] = true;
        for (int rank = 0; rank < ranks; rank++)
            if (led[rank]) to[(*n)++] = rank;
        free(led);
    } else if (lane->backend->broadcast) {
        to[(*n)++] = 0;
    } else {
        for (int i = 0; i < partners->n_targets; i++) to[(*n)++] = partners->targets[i];
        to[(*n)++] = lane->place;
    }
    return to;
}

/// Opens the exchanges with the ranks that have routes to or from this one. Where the exchange merges, it
/// lets the routes lead to bridges before; only that can fail. `comm` is MPI_COMM_NULL in a dry run.
static bool open_windows(struct lane *lane, const uint32_t *per_owner, MPI_Comm comm, struct error *error) {
    const struct levels *levels = &lane->plan->exchange.levels;
    if (levels->merge && lane->ranks > 1) {
        lane->fanout = ALLOC_ZERO(struct fanout, 1);
        lane->fanout->format = lane->format;
        lane->fanout->wire = lane->plan->wire;
        if (!fanout_open(lane->fanout, levels, comm, lane->place, &lane->routes, lane->ranks, error))
            return false;
    }
    const struct exchange_spec alone = {.backend = lane->backend};
    int *targets = ALLOC(int, (size_t)lane->ranks), *sources = ALLOC(int, (size_t)lane->ranks);
    struct partners partners = {.targets = targets, .sources = sources, .fanout = lane->fanout};
    for (int rank = 0; rank < lane->ranks; rank++) {
        if (rank == lane->place) continue;
        if (lane->routes.target[rank]) targets[partners.n_targets++] = rank;
        if (per_owner[rank]) sources[partners.n_sources++] = rank;
    }
    const int heard = lane->backend->broadcast ? lane->ranks : partners.n_sources + 1;
    int n_to, *to = destinations(lane, &partners, &n_to);
    lane->windows = ALLOC_ZERO(struct window, windows(lane));
    for (uint32_t w = 0; w < windows(lane); w++) {
        struct window *window = &lane->windows[w];
        outbox_open_some(&window->outbox, exchange_destinations(lane->backend, lane->ranks), to, n_to);
        window->exchange = lane->foreign ? made_up_open(lane->ranks, lane->place, heard)
                                         : exchange_open(lane->ranks > 1 ? &lane->plan->exchange : &alone,
                                                         lane->comm, &partners);
    }
    FREE(targets, sources, to);
    return true;
}

bool lane_open(struct lane *lane, const struct wanted *wanted, const uint32_t *own_gids, uint32_t n,
               struct error *error) {
    struct search *search = lane->backend->broadcast ? &lane->search : NULL;
    routes_open(&lane->routes, search, lane->comm, wanted, own_gids, n);
    return open_windows(lane, wanted->per_owner, lane->comm, error);
}

bool lane_open_alone(struct lane *lane, const uint32_t *per_owner, struct error *error) {
    return open_windows(lane, per_owner, MPI_COMM_NULL, error);
}

void lane_close(struct lane *lane) {
    for (uint32_t w = 0; lane->windows && w < windows(lane); w++) {
        exchange_close(lane->windows[w].exchange);
        outbox_close(&lane->windows[w].outbox);
        joined_close(&lane->windows[w].joined);
    }
    free(lane->windows);
    routes_close(&lane->routes);
    search_close(&lane->search);
    if (lane->fanout) fanout_close(lane->fanout);
    FREE(lane->fanout, lane->tables);
    foreign_close(lane->foreign);
    if (lane->comm != MPI_COMM_SELF) MPI_Comm_free(&lane->comm);
}

void lane_begin(struct lane *lane, uint32_t step) {
    lane->filling = 0;
    lane->windows[0].first_step = step;
    lane_clear(lane);
}

void lane_reset_counts(struct lane *lane) {
    lane->ended = lane->spikes_sent = 0;
    for (uint32_t w = 0; w < windows(lane); w++) {
        struct exchange *exchange = lane->windows[w].exchange;
        exchange->traffic = (struct traffic){0, 0};
        for (int l = 0; l < levels_max; l++)
            exchange->level[l] = (struct level_traffic){.connections = exchange->level[l].connections};
    }
}

static void send_along(struct lane *lane, uint32_t neuron, const struct spike *spike) {
    const struct routes *routes = &lane->routes;
    const struct wire_format *wire = lane->plan->wire;
    struct window *window = &lane->windows[lane->filling];
    for (size_t i = routes->first[neuron]; i < routes->first[neuron + 1]; i++) {
        const struct route route = routes->route[i];
        const uint32_t word = spike_pack(lane->format, route.list, spike->step - window->first_step);
        if (wire->words == 1) {
            outbox_add(&window->outbox, route.rank, word);
            continue;
        }
        uint32_t words[wire_words_max];
        wire_pack(wire, words, word, spike->gid, spike->step);
        for (int k = 0; k < wire->words; k++) outbox_add(&window->outbox, route.rank, words[k]);
    }
    lane->spikes_sent += routes->first[neuron + 1] - routes->first[neuron];
}

void lane_collocate(struct lane *lane, const struct spike *spikes, uint32_t n, uint32_t first) {
    enum { ahead = 16 }; // spikes; places of routes are fetched this far ahead, routes half as far
    const struct routes *routes = &lane->routes;
    // What the first spikes need is fetched before the loop: few neurons fire in a cycle.
    for (uint32_t i = 0; i < n && i < ahead; i++)
        __builtin_prefetch(&routes->first[first + spikes[i].neuron]);
    for (uint32_t i = 0; i < n && i < ahead / 2; i++)
        __builtin_prefetch(&routes->route[routes->first[first + spikes[i].neuron]]);
    for (uint32_t i = 0; i < n; i++) {
        if (i + ahead < n) __builtin_prefetch(&routes->first[first + spikes[i + ahead].neuron]);
        if (i + ahead / 2 < n)
            __builtin_prefetch(&routes->route[routes->first[first + spikes[i + ahead / 2].neuron]]);
        send_along(lane, first + spikes[i].neuron, &spikes[i]);
    }
}

void lane_synchronise(struct lane *lane) {
    MPI_Barrier(lane->comm);
}

void lane_make_up(struct lane *lane, uint32_t next) {
    const struct window *window = &lane->windows[lane->filling];
    if (lane->foreign)
        made_up_expect(window->exchange, foreign_window(lane->foreign, window->first_step, next));
}

void lane_start(struct lane *lane, uint32_t next) {
    struct window *window = &lane->windows[lane->filling];
    exchange_start(window->exchange, &window->outbox);
    window->started = true;
    window->sent_step = window->first_step;
    lane->ended++;
    lane->filling = (lane->filling + 1) % windows(lane);
    lane->windows[lane->filling].first_step = next;
}

void lane_progress(struct lane *lane) {
    for (uint32_t w = 0; w < windows(lane); w++)
        if (lane->windows[w].started) exchange_progress(lane->windows[w].exchange, &lane->windows[w].outbox);
}

/// Translates the inbox into words that name lists of this rank, in one run. \return how many they are.
static size_t translate(const struct lane *lane, struct window *window) {
    const struct wire_format *wire = lane->plan->wire;
    const struct inbox *inbox = &window->exchange->inbox;
    size_t n = 0;
    joined_reserve(&window->joined, inbox->words / (size_t)wire->words);
    for (int i = 0; i < inbox->runs; i++)
        for (size_t k = 0; k < inbox->run[i].count; k += (size_t)wire->words) {
            uint32_t word = inbox->run[i].words[k + (size_t)wire->at];
            if (lane->backend->broadcast) {
                uint32_t list =
                    search_list(&lane->search, inbox->run[i].from, spike_list(lane->format, word));
                if (list == search_nothing) continue;
                word = spike_pack(lane->format, list, spike_step(lane->format, word));
            }
            window->joined.words[n++] = word;
        }
    return n;
}

static void finish_window(const struct lane *lane, struct window *window) {
    exchange_finish(window->exchange, &window->outbox);
    outbox_clear(&window->outbox);
    window->started = false;
    window->arrived = true;
    const struct inbox *inbox = &window->exchange->inbox;
    if (lane->backend->broadcast || lane->plan->wire->words > 1) {
        window->n_words = translate(lane, window);
        window->words = window->joined.words;
    } else if (inbox_is_scattered(inbox) && !inbox->together) {
        joined_copy(&window->joined, inbox);
        window->n_words = inbox->words;
        window->words = window->joined.words;
    } else {
        window->n_words = inbox->words;
        window->words = inbox->together;
    }
}

void lane_finish(struct lane *lane, bool all) {
    for (uint32_t i = 0; i < (all ? windows(lane) : 1); i++) {
        struct window *window = &lane->windows[(lane->filling + i) % windows(lane)]; // the oldest first
        if (window->started) finish_window(lane, window);
    }
}

struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring) {
    struct delivered sum = {0, 0, 0};
    for (uint32_t w = 0; w < windows(lane); w++) {
        const struct window *window = &lane->windows[w];
        const struct inbox *inbox = &window->exchange->inbox;
        if (!window->arrived || window->n_words == 0) continue;
        const int runs = window->words ? 1 : inbox->runs;
        for (int i = 0; i < runs; i++) {
            const uint32_t *words = window->words ? window->words : inbox->run[i].words;
            const size_t count = window->words ? window->n_words : inbox->run[i].count;
            struct delivered d = synapse_table_deliver(&lane->tables[thread], words, count, lane->format,
                                                       window->sent_step, ring);
            sum.synaptic_events += d.synaptic_events;
            sum.first_accesses += d.first_accesses;
            sum.lookups += d.lookups;
        }
    }
    return sum;
}

void lane_clear(struct lane *lane) {
    for (uint32_t w = 0; w < windows(lane); w++) lane->windows[w].arrived = false;
}

struct traffic lane_traffic(const struct lane *lane) {
    struct traffic sum = {0, 0};
    for (uint32_t w = 0; w < windows(lane); w++) {
        sum.messages += lane->windows[w].exchange->traffic.messages;
        sum.bytes += lane->windows[w].exchange->traffic.bytes;
    }
    return sum;
}

struct level_traffic lane_level(const struct lane *lane, int level) {
    struct level_traffic sum = {0};
    for (uint32_t w = 0; w < windows(lane); w++)
        level_traffic_add(&sum, &lane->windows[w].exchange->level[level]);
    return sum;
}

uint64_t lane_words(const struct lane *lane) {
    uint64_t sum = 0;
    for (uint32_t w = 0; lane->foreign && w < windows(lane); w++)
        sum += made_up_copied(lane->windows[w].exchange);
    return sum;
}

size_t lane_route_bytes(const struct lane *lane) {
    return routes_bytes(&lane->routes) + search_bytes(&lane->search) +
           (lane->fanout ? fanout_bytes(lane->fanout) : 0) +
           (lane->ranks > 1 ? levels_bytes(&lane->plan->exchange.levels, lane->ranks) : 0);
}

size_t lane_buffer_bytes(const struct lane *lane) {
    size_t bytes = 0;
    for (uint32_t w = 0; w < windows(lane); w++) {
        const struct window *window = &lane->windows[w];
        bytes += outbox_bytes(&window->outbox) + exchange_bytes(window->exchange) +
                 window->joined.capacity * sizeof *window->joined.words;
    }
    return bytes;
}
