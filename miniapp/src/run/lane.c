/// \file
/// A lane at work: how spikes get from the neurons that fired to the synapses of other ranks.
///
/// During a window, lane_collocate() packs each spike once for every rank that holds a target (send
/// buffer, 4 bytes a spike). At its end, lane_start() hands the send buffer to the exchange; with lag L,
/// lane_finish() waits for it L windows later, so that computing hides the exchange. What has arrived
/// stays in the receive buffer until lane_deliver() has walked the lists of every thread.
///
/// Cost of a cycle: spikes x target ranks to collocate, partners to exchange, spikes received + synapses
/// visited to deliver. Memory: L + 1 transfers, each with a send and a receive buffer that grow to
/// the largest window seen.

#include "run/lane.h"

#include "base/alloc.h"
#include "base/fatal.h"
#include "measurement/platform.h"
#include "run/dry.h"
#include "transport/communicator.h"
#include "transport/exchange_check.h"
#include <stdlib.h>

/// Refuses the exchange of a lane, or one of its parts, that needs shared memory between ranks of several
/// nodes. Collective over `comm`, the ranks that exchange. Only some of them may find the error.
static void lane_check_nodes(const struct lane_plan *plan, MPI_Comm comm, struct error *error) {
    const struct exchange_backend *backend = plan->exchange.backend;
    // An exchange that is not composed is checked as a whole, a composed one part by part.
    if (backend->one_node) exchange_check_node(backend, plan->name, comm, error);
    if (backend->composed) levels_hooks->check_nodes(plan, comm, error);
}

/// Returns how many transfers there are: one for the window that fills, and L for those that travel.
static uint32_t transfers(const struct lane *lane) {
    return lane->plan->lag + 1;
}

void lane_init(struct lane *lane, const struct lane_plan *plan, int rank) {
    // Where the plan leaves the rank alone in its group, `self` stays, and MPI is not needed.
    *lane = (struct lane){.plan = plan, .comm = MPI_COMM_SELF, .backend = exchange_find("self")};
    lane->deliver = deliver_tuned;
    lane->ranks = plan->groups.size[rank];
    lane->place = plan->groups.place[rank];
    if (lane->ranks > 1) lane->backend = plan->exchange.backend;
}

bool lane_connect(struct lane *lane, const struct lane_plan *plan, MPI_Comm world, struct error *error) {
    const int rank = comm_rank(world);
    lane_init(lane, plan, rank);
    MPI_Comm comm;
    // The lowest rank of a group names it, so ranks with equal names make a communicator.
    MPI_Comm_split(world, plan->groups.first[rank], rank, &comm); // numbers ranks as groups.place does
    if (lane->ranks == 1) {
        MPI_Comm_free(&comm);
    } else {
        lane->comm = comm;
        lane_check_nodes(plan, comm, error);
        // The test comes last: it needs the communicator, and nothing else may have failed on any rank.
        const bool checks = lane->ranks <= platform.checked_ranks;
        if (agree(comm, error) && checks) exchange_check(&plan->exchange, comm, error);
    }
    return agree(world, error);
}

/// Returns the destinations to which routes lead, and how many they are.
static int *reachable_destinations(const struct lane *lane, const struct partners *partners, int *n) {
    const int destinations = exchange_destinations(lane->backend, lane->ranks);
    int *reachable = ALLOC(int, (size_t)destinations);
    *n = 0;
    if (lane->fanout) { // routes lead to bridges
        bool *led = ALLOC_ZERO(bool, (size_t)destinations);
        for (size_t i = 0; i < lane->routes.first[lane->routes.neurons]; i++)
            led[lane->routes.route[i].rank] = true;
        for (int rank = 0; rank < destinations; rank++)
            if (led[rank]) reachable[(*n)++] = rank;
        free(led);
    } else if (lane->backend->broadcast) {
        reachable[(*n)++] = 0;
    } else {
        for (int i = 0; i < partners->n_targets; i++) reachable[(*n)++] = partners->targets[i];
        // The rank itself is always a destination: its own spikes take the same way.
        reachable[(*n)++] = lane->place;
    }
    return reachable;
}

/// Opens the exchanges with the ranks that have routes to or from this one. Where the exchange merges, it
/// lets the routes lead to bridges before; only that can fail. `comm` is MPI_COMM_NULL in a dry run.
static bool open_transfers(struct lane *lane, const uint32_t *per_owner, MPI_Comm comm, struct error *error) {
    const struct levels *levels = &lane->plan->exchange.levels;
    if (levels->merge && lane->ranks > 1) {
        lane->fanout = levels_hooks->open_fanout(lane->plan, lane->format, comm, lane->place, &lane->routes,
                                                 lane->ranks, error);
        if (!lane->fanout) return false;
    }
    // The ranks with which there is anything to exchange: those that have lists of our neurons, and those
    // whose neurons we have lists of.
    const struct exchange_spec self = {.backend = lane->backend};
    int *targets = ALLOC(int, (size_t)lane->ranks), *sources = ALLOC(int, (size_t)lane->ranks);
    struct partners partners = {.targets = targets, .sources = sources, .fanout = lane->fanout};
    for (int rank = 0; rank < lane->ranks; rank++) {
        if (rank == lane->place) continue;
        if (lane->routes.target[rank]) targets[partners.n_targets++] = rank;
        if (per_owner[rank]) sources[partners.n_sources++] = rank;
    }
    // A broadcast can bring words from every rank; others bring them from the sources and the rank itself.
    const int heard = lane->backend->broadcast ? lane->ranks : partners.n_sources + 1;
    int n_reachable, *reachable = reachable_destinations(lane, &partners, &n_reachable);
    lane->transfers = ALLOC_ZERO(struct transfer, transfers(lane));
    for (uint32_t i = 0; i < transfers(lane); i++) {
        struct transfer *transfer = &lane->transfers[i];
        send_buffer_open_some(&transfer->send_buffer, exchange_destinations(lane->backend, lane->ranks),
                              reachable, n_reachable);
        transfer->exchange = lane->foreign ? dry_hooks->open_exchange(lane->ranks, lane->place, heard)
                                           : exchange_open(lane->ranks > 1 ? &lane->plan->exchange : &self,
                                                           lane->comm, &partners);
    }
    FREE(targets, sources, reachable);
    return true;
}

bool lane_open(struct lane *lane, const struct source_table *source_table, const uint32_t *own_gids,
               uint32_t n, struct error *error) {
    // Broadcast words name a neuron of the sender, so receivers have to search for their list.
    struct search *search = lane->backend->broadcast ? &lane->search : NULL;
    routes_open(&lane->routes, search, lane->comm, source_table, own_gids, n);
    return open_transfers(lane, source_table->per_owner, lane->comm, error);
}

bool lane_open_dry(struct lane *lane, const uint32_t *per_owner, struct error *error) {
    return open_transfers(lane, per_owner, MPI_COMM_NULL, error);
}

void lane_close(struct lane *lane) {
    for (uint32_t i = 0; lane->transfers && i < transfers(lane); i++) {
        // Exchanges have duplicates of the communicator, so they go before it.
        exchange_close(lane->transfers[i].exchange);
        send_buffer_close(&lane->transfers[i].send_buffer);
        word_buffer_close(&lane->transfers[i].own_words);
    }
    free(lane->transfers);
    routes_close(&lane->routes);
    search_close(&lane->search);
    if (lane->fanout) levels_hooks->close_fanout(lane->fanout);
    if (lane->foreign) dry_hooks->close_foreign(lane->foreign);
    free(lane->tables);
    if (lane->comm != MPI_COMM_SELF) MPI_Comm_free(&lane->comm);
}

void lane_begin(struct lane *lane, uint32_t step) {
    lane->filling = 0;
    // Nothing is under way: the last cycle of a stretch finishes every window.
    lane->transfers[0].first_step = step;
    lane_clear(lane);
}

void lane_reset_counts(struct lane *lane) {
    lane->ended = lane->spikes_sent = 0;
    for (uint32_t i = 0; i < transfers(lane); i++) {
        struct exchange *exchange = lane->transfers[i].exchange;
        // Connections are a property of the exchange and stay; what was sent is forgotten.
        exchange->traffic = (struct traffic){0, 0};
        for (int l = 0; l < levels_max; l++)
            exchange->level[l] = (struct level_traffic){.connections = exchange->level[l].connections};
    }
}

/// Appends the spike to the send buffer once for every route of its neuron. The word says which list the
/// destination has to walk, and in which step of the window the neuron fired.
static void send_along(struct lane *lane, uint32_t neuron, const struct spike *spike) {
    const struct routes *routes = &lane->routes;
    const struct wire_format *wire = lane->plan->wire;
    struct transfer *transfer = &lane->transfers[lane->filling];
    for (size_t i = routes->first[neuron]; i < routes->first[neuron + 1]; i++) {
        // One word for each rank that has a list of the neuron.
        const struct route route = routes->route[i];
        const uint32_t word = spike_pack(lane->format, route.list, spike->step - transfer->first_step);
        if (wire->words == 1) {
            send_buffer_add(&transfer->send_buffer, route.rank, word);
            continue;
        }
        // A longer wire format sends further words that the receiver drops (see translate()).
        uint32_t words[wire_words_max];
        wire_pack(wire, words, word, spike->gid, spike->step);
        for (int k = 0; k < wire->words; k++) send_buffer_add(&transfer->send_buffer, route.rank, words[k]);
    }
    // Counts words for destinations, so a spike counts once for each rank that needs it.
    lane->spikes_sent += routes->first[neuron + 1] - routes->first[neuron];
}

/// Spikes by which the places of routes are fetched ahead of their use; routes themselves half as far.
/// Neurons that fire lie anywhere, so both are misses, and the second follows from the first: the latency of
/// the memory has to pass while eight spikes are collocated. As in deliver_lists(); chosen, not tuned.
enum { ahead = 16 };

void lane_collocate(struct lane *lane, const struct spike *spikes, uint32_t n, uint32_t first) {
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

void lane_start(struct lane *lane, uint32_t next) {
    struct transfer *transfer = &lane->transfers[lane->filling];
    // A blocking back-end does nothing yet, and all its work in exchange_finish().
    exchange_start(transfer->exchange, &transfer->send_buffer);
    transfer->started = true;
    transfer->sent_step = transfer->first_step;
    lane->ended++;
    // The next window uses the transfer of the oldest one. lane_finish() completes that one before any spike
    // is collected here.
    lane->filling = (lane->filling + 1) % transfers(lane);
    lane->transfers[lane->filling].first_step = next;
}

/// Lets MPI work on the windows of a lane that have been started.
static void progress(struct lane *lane) {
    for (uint32_t i = 0; i < transfers(lane); i++)
        if (lane->transfers[i].started)
            exchange_progress(lane->transfers[i].exchange, &lane->transfers[i].send_buffer);
}

void lanes_progress(struct lane *lanes, int n) {
    for (int l = 0; l < n; l++)
        if (lanes[l].plan->lag > 0) progress(&lanes[l]);
}

bool lanes_overlap(const struct lane *lanes, int n) {
    for (int l = 0; l < n; l++)
        if (lanes[l].plan->lag > 0) return true;
    return false;
}

/// Translates the receive buffer into words that name lists of this rank, in one run. \return how many they
/// are.
static size_t translate(const struct lane *lane, struct transfer *transfer) {
    const struct wire_format *wire = lane->plan->wire;
    const struct receive_buffer *receive_buffer = &transfer->exchange->receive_buffer;
    size_t n = 0;
    // There cannot be more spikes than that; dropped ones leave the rest of the room unused.
    word_buffer_reserve(&transfer->own_words, receive_buffer->words / (size_t)wire->words);
    for (int i = 0; i < receive_buffer->runs; i++)
        for (size_t k = 0; k < receive_buffer->run[i].count; k += (size_t)wire->words) {
            uint32_t word = receive_buffer->run[i].words[k + (size_t)wire->at];
            if (lane->backend->broadcast) {
                // Broadcast words name the sender's neuron. Receivers drop those of which they have no list.
                uint32_t list =
                    search_list(&lane->search, receive_buffer->run[i].from, spike_list(lane->format, word));
                if (list == search_nothing) continue;
                word = spike_pack(lane->format, list, spike_step(lane->format, word));
            }
            transfer->own_words.words[n++] = word;
        }
    return n;
}

/// Completes an exchange and chooses in which form delivery gets the words: translated, where a
/// broadcast or a longer wire format needs it; copied into one run, where many ranks sent a little each; or
/// where the exchange has put them.
static void finish_transfer(const struct lane *lane, struct transfer *transfer) {
    exchange_finish(transfer->exchange, &transfer->send_buffer);
    send_buffer_clear(&transfer->send_buffer);
    transfer->started = false;
    transfer->arrived = true;
    const struct receive_buffer *receive_buffer = &transfer->exchange->receive_buffer;
    if (receive_buffer->damaged)
        fatal(
            "exchange: \"%s\" of lane %s brought words that no rank has sent; expected another exchange, or "
            "another MPI library",
            lane->backend->name, lane->plan->name);
    if (lane->backend->broadcast || lane->plan->wire->words > 1) {
        transfer->n_words = translate(lane, transfer);
        transfer->words = transfer->own_words.words;
    } else if (receive_buffer_is_scattered(receive_buffer) && !receive_buffer->together) {
        receive_buffer_join(&transfer->own_words, receive_buffer);
        transfer->n_words = receive_buffer->words;
        transfer->words = transfer->own_words.words;
    } else {
        transfer->n_words = receive_buffer->words;
        transfer->words = receive_buffer->together;
    }
}

void lane_finish(struct lane *lane, bool all) {
    // Transfers are used in turn, so from `filling` on they are in the order of their age. After
    // lane_start(), the one to be filled next is the one whose exchange is oldest, so only that is due;
    // without a lag it was just started. With `all`, the others follow, oldest first: every rank of the lane
    // must finish them in the same order, since exchanges are collective.
    for (uint32_t i = 0; i < (all ? transfers(lane) : 1); i++) {
        struct transfer *transfer =
            &lane->transfers[(lane->filling + i) % transfers(lane)]; // the oldest first
        if (transfer->started) finish_transfer(lane, transfer);
    }
}

struct delivered lane_deliver(const struct lane *lane, int thread, struct ring *ring) {
    struct delivered sum = {0, 0, 0};
    for (uint32_t i = 0; i < transfers(lane); i++) {
        const struct transfer *transfer = &lane->transfers[i];
        const struct receive_buffer *receive_buffer = &transfer->exchange->receive_buffer;
        // Those under way have nothing to deliver. The one that is being filled still holds what arrived
        // last.
        if (!transfer->arrived || transfer->n_words == 0) continue;
        // All words are one run where they lie together; else there is a run for each rank that sent some.
        const int runs = transfer->words ? 1 : receive_buffer->runs;
        for (int k = 0; k < runs; k++) {
            const uint32_t *words = transfer->words ? transfer->words : receive_buffer->run[k].words;
            const size_t count = transfer->words ? transfer->n_words : receive_buffer->run[k].count;
            struct delivered d =
                lane->deliver(&lane->tables[thread], words, count, lane->format, transfer->sent_step, ring);
            sum.synaptic_events += d.synaptic_events;
            sum.first_accesses += d.first_accesses;
            sum.lookups += d.lookups;
        }
    }
    return sum;
}

void lane_clear(struct lane *lane) {
    for (uint32_t i = 0; i < transfers(lane); i++) lane->transfers[i].arrived = false;
}

struct traffic lane_traffic(const struct lane *lane) {
    struct traffic sum = {0, 0};
    for (uint32_t i = 0; i < transfers(lane); i++) {
        sum.messages += lane->transfers[i].exchange->traffic.messages;
        sum.bytes += lane->transfers[i].exchange->traffic.bytes;
    }
    return sum;
}

struct level_traffic lane_level(const struct lane *lane, int level) {
    struct level_traffic sum = {0};
    for (uint32_t i = 0; i < transfers(lane); i++)
        level_traffic_add(&sum, &lane->transfers[i].exchange->level[level]);
    return sum;
}

size_t lane_route_bytes(const struct lane *lane) {
    return routes_bytes(&lane->routes) + search_bytes(&lane->search) +
           (lane->fanout ? levels_hooks->fanout_bytes(lane->fanout) : 0) +
           (lane->ranks > 1 ? levels_bytes(&lane->plan->exchange.levels, lane->ranks) : 0);
}

size_t lane_buffer_bytes(const struct lane *lane) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < transfers(lane); i++) {
        const struct transfer *transfer = &lane->transfers[i];
        bytes += send_buffer_bytes(&transfer->send_buffer) + exchange_bytes(transfer->exchange) +
                 transfer->own_words.capacity * sizeof *transfer->own_words.words;
    }
    return bytes;
}
