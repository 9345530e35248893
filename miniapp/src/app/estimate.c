/// \file
/// Expected numbers of synapses, lists and routes of a rank, and the bytes that they will take.
///
/// Nothing is drawn. The number of lists is the number of neurons that at least one of the rank's draws hits,
/// which for each source population follows from the number of draws (lane_sources_expect()). From lists and
/// synapses the sizes of tables follow by the same functions that will choose them (synapse_index()). Routes
/// are as many as lists on the mean: each list on a rank is a route on the owner of its source.
///
/// Cost for each rank: projections x populations, not synapses. A test compares the estimate with what
/// build_bytes() finds.

#include "app/estimate.h"

#include "base/alloc.h"
#include "run/build.h"
#include "run/lists.h"
#include "schedule/lane_sources.h"

/// What a rank is expected to have in a lane. Expectations are doubles.
struct lane_share {
    double lists;    ///< neurons of which the rank has synapses
    double synapses; ///< of all threads of the rank
    double sources;  ///< neurons from which there can be synapses
};

/// The stages of building, each with what it needs for a while: see struct estimate.
enum building_stage {
    stage_drawing, ///< threads count the synapses of each bucket of sources
    stage_sorting, ///< threads sort buckets into tables
    stage_routing, ///< a round of requests
    stage_sources, ///< the sources of the rank, from sorting until the routes are there
    building_stages
};

/// Bytes of what is needed for a while (the structs are those of the files that take it).
enum {
    bucket_bytes = sizeof(uint32_t),          ///< of a bucket of sources: its end (synapse/buckets.h)
    sorted_bytes = 2 * sizeof(uint32_t),      ///< of a source of the bucket that is sorted: start and place
    low_bytes = sizeof(uint16_t),             ///< of a source in the set of sources (base/id_set.h)
    request_bytes = 2 * 2 * sizeof(uint32_t), ///< of a list in a round: two words, sent and received
    owned_bytes = 2 * sizeof(uint32_t),       ///< of a neuron: id and number, sorted (transport/routes.c)
    small_page = 4096,
    huge_page = 1 << 21,               ///< of memory, in which blocks give theirs back (base/alloc.h)
    small_pages_up_to = 16 * huge_page ///< bytes of a block that gives back small pages
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

/// Returns the format of the synapses of a thread that has its even share of `neurons`. What does not fit
/// into words is refused elsewhere, by name (lists_draw()); here it only has some size.
/// \param model with the weights, which are the same for all ranks.
static struct synapse_format format_of(const struct model *model, double neurons) {
    struct error ignored = {""};
    struct synapse_format format;
    synapse_format(&format, (uint32_t)fmax(1, ceil(neurons)), model->description->network.longest_delay,
                   model->weights, model->n_classes, &ignored);
    return format;
}

/// Returns the whole number in an expectation, which may fall short of one by the rounding of its sum.
static uint64_t whole(double expected) {
    const double hair = 1e-3; // of an item; sums of some thousand terms are wrong by less
    return (uint64_t)(expected + hair);
}

/// Returns the bytes of the routes of a lane on one of `ranks` ranks that exchange, as lane_route_bytes()
/// finds them afterwards, but for the tables of bridges where spikes are merged. The rank is expected to have
/// lists of `lists` neurons, and so is every other one.
static double estimate_routes(const struct lane_plan *lane, int ranks, double lists) {
    const double tables = ranks > 1 ? (double)levels_bytes(&lane->exchange.levels, ranks) : 0;
    return lists * (double)sizeof(struct route) + tables;
}

/// Adds what finds the synapses of a lane on one of `ranks` ranks, and what building takes for it: while
/// drawing, sorting, and making routes, which are merged in the end. `synapses` are those of the rank in all
/// lanes.
static void add_lane(struct estimate *e, const struct lane_plan *lane, int ranks,
                     const struct lane_share *share, const struct network *network,
                     const struct synapse_format *format, int threads, double synapses,
                     double building[building_stages]) {
    // What stays: the tables of all threads, and the routes.
    const double each = share->synapses / threads;
    const unsigned bits =
        buckets_source_bits(format, (uint32_t)share->sources, network->n_neurons, synapses / threads);
    const double width = ldexp(1, (int)bits), buckets = (network->n_neurons >> bits) + 1.0;
    const struct synapse_index index =
        synapse_index(format, (uint32_t)whole(fmin(share->lists, UINT32_MAX)), whole(each));
    const double filled = fmax(1, share->sources / width); // buckets
    const double sources = low_bytes * share->lists +
                           sizeof(struct id_bucket) *
                               ((network->n_neurons >> id_set_bits(network->n_neurons, bits, threads)) + 1.0);
    e->lists += threads * synapse_index_bytes(&index, format, whole(each));
    e->routes += estimate_routes(lane, ranks, share->lists);
    // What building takes for a while, in each of its stages.
    building[stage_drawing] += threads * bucket_bytes * buckets;
    building[stage_sorting] += threads * (bucket_bytes * buckets + sorted_bytes * width) + sources;
    // The bucket that is sorted is there twice.
    building[stage_sorting] += (double)synapse_bytes(format) * share->synapses / filled;
    if (index.most_lists > 0) {
        // Lines: a group of lists with the start of each, then pages that are not given back yet, and those
        // at both ends of what is given back.
        const double bytes = (double)synapse_bytes(format) * each;
        const double starts = sizeof(uint32_t),
                     ends = bytes < small_pages_up_to ? 2 * small_page : 2 * huge_page;
        building[stage_sorting] += threads * ldexp(starts + bytes / share->lists, (int)index.group_bits);
        building[stage_sorting] += threads * (bytes / alloc_releases + ends);
    }
    // Lanes make their routes one after the other, but all of them have their sources until then.
    const double round = request_bytes * share->lists / (double)routes_rounds((uint64_t)share->lists);
    building[stage_routing] = fmax(building[stage_routing], round);
    building[stage_sources] += sources;
    // Merging makes new routes while the old ones are there.
    if (lane->exchange.levels.merge) building[stage_sources] += share->lists * (double)sizeof(struct route);
}

/// Returns what the places of an exchange between so many ranks and of its send buffer take: what there is
/// for each rank, partner or not.
static double places_bytes(const struct exchange_backend *backend, int ranks) {
    const double received = (double)sizeof(struct receive_buffer_run) + (double)backend->rank_bytes;
    return ranks * received + (double)send_buffer_place_bytes * exchange_destinations(backend, ranks);
}

/// Returns what the windows of a lane take at least on a rank that has so many lists: the places, and the
/// room for the first words to each rank that may want some.
static double windows_bytes(const struct lane_plan *lane, int ranks, double lists) {
    const struct exchange_spec *spec = &lane->exchange;
    if (ranks == 1) return (lane->lag + 1.0) * places_bytes(exchange_find("self"), 1);
    const double rooms = spec->backend->broadcast ? 1 : fmin(ranks, lists);
    double bytes = places_bytes(spec->backend, ranks) + rooms * send_buffer_first_room * sizeof(uint32_t);
    const struct exchange_backend *part;
    for (int level = 0, line; spec->backend->composed; level++) {
        line = levels_hooks->line(&spec->levels, ranks, level, &part);
        if (line == 0) break;
        bytes += places_bytes(part, line);
    }
    return (lane->lag + 1.0) * bytes;
}

/// Returns what a rank will need; `model` as in format_of().
static struct estimate of_rank(const struct model *model, const struct placement *placement,
                               const struct schedule *schedule, int rank) {
    const struct description *description = model->description;
    const struct network *network = &description->network;
    struct lane_share shares[schedule_lanes_max];
    struct estimate e = {0};
    // Neurons of each population on the rank, and their state.
    double neurons = 0, *own = ALLOC_ZERO(double, network->n_populations);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const double here = own[p] = placement_count(placement, p, rank);
        neurons += here;
        e.neurons += here * (double)neuron_model_find(network->populations[p].model)->bytes_per_neuron;
        if (network->populations[p].external.mean > 0) e.neurons += here * external_steps;
    }
    // Synapses, of one word or two.
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *projection = &network->projections[i];
        e.synapses += (network->normal ? 8.0 : 4.0) * own[projection->target] * projection->indegree.mean;
    }
    share_lanes(schedule, network, own, shares);
    free(own);
    const struct synapse_format format = format_of(model, neurons / placement->threads);
    // Every list somewhere is a route somewhere else; by symmetry a rank holds as many routes as it has
    // lists.
    e.routes = 8 * neurons * schedule->n_lanes;
    double building[building_stages] = {0};
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        const int ranks = lane_ranks(lane, rank);
        add_lane(&e, lane, ranks, &shares[l], network, &format, placement->threads,
                 e.synapses / (double)synapse_bytes(&format), building);
        e.lane_lists[l] = shares[l].lists;
        e.buffers += windows_bytes(lane, ranks, shares[l].lists);
    }
    // One cell for each neuron and step up to the longest delay.
    e.ring = (network->narrow_input ? 2 : 4) * neurons * (network->longest_delay + 1);
    e.buffers += neurons * description->steps_per_cycle * (double)sizeof(struct spike) +
                 placement->threads * block_neurons * 8.0;
    // The stage that needs most on top of what stays. While drawing, neither lists nor routes are there yet,
    // and no routes while sorting: their room is free for what is needed then.
    const double drawing = building[stage_drawing] - e.lists - e.routes;
    const double sorting = building[stage_sorting] - e.routes;
    const double routing = building[stage_sources] + building[stage_routing] + owned_bytes * neurons;
    e.building = fmax(routing, fmax(drawing, sorting));
    return e;
}

/// Writes what ranks from `first` on will need into estimates[count].
static void of_ranks(struct estimate *estimates, const struct description *description,
                     const struct placement *placement, const struct schedule *schedule, int first,
                     int count) {
    struct model model = {.description = description};
    build_weights(&model);
    for (int i = 0; i < count; i++) estimates[i] = of_rank(&model, placement, schedule, first + i);
    build_close_weights(&model);
}

struct estimate estimate_rank(const struct description *description, const struct placement *placement,
                              const struct schedule *schedule, int rank) {
    struct estimate e;
    of_ranks(&e, description, placement, schedule, rank, 1);
    return e;
}

struct estimate *estimate_ranks(const struct description *description, const struct placement *placement,
                                const struct schedule *schedule) {
    struct estimate *estimates = ALLOC(struct estimate, placement->ranks);
    of_ranks(estimates, description, placement, schedule, 0, placement->ranks);
    return estimates;
}

double estimate_sum(const struct estimate *e) {
    return e->neurons + e->synapses + e->lists + e->routes + e->ring + e->buffers;
}

bool estimate_check_words(const struct description *description, const struct placement *placement,
                          const struct schedule *schedule, struct error *error) {
    struct estimate *estimates = estimate_ranks(description, placement, schedule);
    bool fit = true;
    for (int rank = 0; fit && rank < placement->ranks; rank++)
        for (int l = 0; fit && l < schedule->n_lanes; l++) {
            const uint64_t lists = (uint64_t)estimates[rank].lane_lists[l];
            fit = lists_check_words(&schedule->lanes[l], description, lists, error);
        }
    free(estimates);
    return fit;
}
