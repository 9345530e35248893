#include "app/job.h"

struct lane_share {
    double lists, synapses;
    double sources; ///< neurons from which there can be synapses
};

/// Finds the shares of all lanes on a rank that has own[population] neurons. A source has a list in a lane
/// unless all draws of all projections miss it.
static void share_lanes(const struct schedule *schedule, const struct network *network, const double *own,
                        struct lane_share shares[schedule_lanes_max]) {
    double *log_missed = ALLOC_ZERO(double, (size_t)schedule->n_lanes * network->n_populations);
    memset(shares, 0, schedule_lanes_max * sizeof *shares);
    double synapses[schedule_lanes_max] = {0};
    lane_sources_expect(schedule, network, own, synapses, log_missed);
    for (int l = 0; l < schedule->n_lanes; l++) shares[l].synapses = synapses[l];
    for (int l = 0; l < schedule->n_lanes; l++)
        for (uint32_t p = 0; p < network->n_populations; p++) {
            const double missed = log_missed[(size_t)l * network->n_populations + p];
            shares[l].lists -= network->populations[p].size * expm1(missed);
            if (missed < 0) shares[l].sources += network->populations[p].size;
        }
    free(log_missed);
}

/// Returns the format of the synapses of a thread that has its even share of `neurons`.
static struct synapse_format format_of(const struct description *description, double neurons) {
    struct error error = {""};
    struct synapse_format format;
    struct model model = {.description = description};
    build_weights(&model);
    synapse_format(&format, (uint32_t)fmax(1, ceil(neurons)), description->network.longest_delay,
                   model.weights, model.n_classes, &error);
    build_close_weights(&model);
    return format;
}

/// Returns the whole number in an expectation, which may fall short of one by the rounding of its sum.
static uint64_t whole(double expected) {
    return (uint64_t)(expected + 1e-3);
}

/// Returns the bytes of the routes of a lane on one of `ranks` ranks that exchange, as lane_route_bytes()
/// finds them afterwards, but for the tables of bridges where spikes are merged. The rank is expected to have
/// lists of `lists` neurons, and so is every other one.
static double estimate_routes(const struct lane_plan *lane, int ranks, double lists) {
    const double tables = ranks > 1 ? (double)levels_bytes(&lane->exchange.levels, ranks) : 0;
    return lists * (double)sizeof(struct route) + tables;
}

/// Adds what finds the synapses of a lane on one of `ranks` ranks, and what building takes for it: while
/// drawing, sorting, and making routes, which are merged in the end.
static void add_lane(struct estimate *e, const struct lane_plan *lane, int ranks,
                     const struct lane_share *share, const struct network *network,
                     const struct synapse_format *format, int threads, double building[4]) {
    const double each = share->synapses / threads;
    const unsigned bits = buckets_source_bits(format, (uint32_t)share->sources);
    const double width = ldexp(1, (int)bits), buckets = (network->n_neurons >> bits) + 1.0;
    const struct synapse_index index =
        synapse_index(format, (uint32_t)whole(fmin(share->lists, UINT32_MAX)), whole(each));
    const double filled = fmax(1, share->sources / width); // buckets
    const double sources =
        2 * share->lists + sizeof(struct id_bucket) *
                               ((network->n_neurons >> id_set_bits(network->n_neurons, bits, threads)) + 1.0);
    e->lists += threads * synapse_index_bytes(&index, format, whole(each));
    e->routes += estimate_routes(lane, ranks, share->lists);
    building[0] += threads * 4 * buckets;
    building[1] += threads * (4 * buckets + 8 * width) + sources;
    building[1] += (double)synapse_bytes(format) * share->synapses / filled;
    if (index.most_lists > 0) { // a group of lists, and pages of which a part is needed
        const double bytes = (double)synapse_bytes(format) * each, huge = 1 << 21;
        building[1] += threads * ldexp(4 + bytes / share->lists, (int)index.group_bits);
        building[1] += threads * (bytes / alloc_releases + (bytes < 16 * huge ? 8192 : 2 * huge));
    }
    const double round = 16 * share->lists / (double)routes_rounds((uint64_t)share->lists);
    building[2] = fmax(building[2], round);
    building[3] += sources;
    if (lane->exchange.levels.merge) building[3] += share->lists * (double)sizeof(struct route);
}

/// Returns what the places of an exchange between so many ranks and of its outbox take: what there is for
/// each rank, partner or not.
static double places_bytes(const struct exchange_backend *backend, int ranks) {
    const double received = (double)sizeof(struct inbox_run) + (double)backend->rank_bytes;
    return ranks * received + (double)outbox_place_bytes * exchange_destinations(backend, ranks);
}

/// Returns what the windows of a lane take at least on a rank that has so many lists: the places, and the
/// room for the first words to each rank that may want some.
static double windows_bytes(const struct lane_plan *lane, int ranks, double lists) {
    const struct exchange_spec *spec = &lane->exchange;
    if (ranks == 1) return (lane->lag + 1.0) * places_bytes(exchange_find("self"), 1);
    const double rooms = spec->backend->broadcast ? 1 : fmin(ranks, lists);
    double bytes = places_bytes(spec->backend, ranks) + rooms * outbox_first_room * sizeof(uint32_t);
    const struct grid grid = grid_of(&spec->levels, ranks, 0);
    for (int l = 0; l < grid.levels.n; l++)
        bytes += places_bytes(grid.levels.part[l], grid_line(&grid, l, 0).ranks);
    return (lane->lag + 1.0) * bytes;
}

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank) {
    const struct network *network = &description->network;
    struct lane_share shares[schedule_lanes_max];
    struct estimate e = {0};
    double neurons = 0, *own = ALLOC_ZERO(double, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const double here = own[p] = placement_count(placement, p, rank);
        neurons += here;
        e.neurons += here * (double)neuron_model_find(network->populations[p].model)->bytes_per_neuron;
        if (network->populations[p].external.mean > 0) e.neurons += here * external_steps;
    }
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *projection = &network->projections[i];
        e.synapses += (network->normal ? 8.0 : 4.0) * own[projection->target] * projection->indegree.mean;
    }
    share_lanes(schedule, network, own, shares);
    free(own);
    const struct synapse_format format = format_of(description, neurons / placement->threads);
    // Every list somewhere is a route somewhere else; by symmetry a rank holds as many routes as it has
    // lists.
    e.routes = 8 * neurons * schedule->n_lanes;
    double building[4] = {0}; // drawing, sorting, a round of requests, sources
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        const int ranks = lane_ranks(lane, rank);
        add_lane(&e, lane, ranks, &shares[l], network, &format, placement->threads, building);
        e.lane_lists[l] = shares[l].lists;
        e.buffers += windows_bytes(lane, ranks, shares[l].lists);
    }
    e.ring = (network->narrow_input ? 2 : 4) * neurons * (network->longest_delay + 1);
    e.buffers += neurons * description->steps_per_cycle * (double)sizeof(struct spike) +
                 placement->threads * block_neurons * 8.0;
    const double routing = building[3] + building[2] + 8 * neurons; // and who owns what
    e.building = fmax(routing, fmax(building[0] - e.lists - e.routes, building[1] - e.routes));
    return e;
}

double estimate_sum(const struct estimate *e) {
    return e->neurons + e->synapses + e->lists + e->routes + e->ring + e->buffers;
}

bool estimate_check_words(const struct description *description, const struct placement *placement,
                          const struct schedule *schedule, struct error *error) {
    for (int rank = 0; rank < placement->ranks; rank++) {
        const struct estimate e = estimate_rank(description, placement, schedule, rank);
        for (int l = 0; l < schedule->n_lanes; l++)
            if (!limits_check_words(&schedule->lanes[l], description, (uint64_t)e.lane_lists[l], error))
                return false;
    }
    return true;
}
