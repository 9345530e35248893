/// \file
/// Deals neurons over ranks with unequal weights, and by the ranges of a placement file.
///
/// Weights say how much of an area each of its ranks shall have. placement_share_by_weights() first decides
/// which ranks hold each area: all of them (round_robin), or consecutive ones in the order of areas, such
/// that the fullest rank has as little as possible over its weight (area_group). It then cuts each population
/// between runs of ranks that have equal weights (cut()), and deals neurons one by one within a run, as equal
/// ranks do. The result is a list of ranges, the same that a placement file holds, and
/// placement_set_ranges() makes the placement from it.
///
/// Cost: areas x 60 bisections, and populations x runs of equal ranks. Memory: 24 bytes for each range.

#include "description/unequal.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Adds the neurons first ... end - 1 of a placed range, to the last range if that has the same rank. The
/// threads of a rank take turns from one range to the next: otherwise thread 0 would get the first neuron of
/// each. `dealt` [ranks] counts the neurons on each rank.
static void add_range(struct placement *placement, const struct placed_range *placed, uint32_t population,
                      uint32_t first, uint32_t end, uint32_t *dealt) {
    const uint32_t over = (uint32_t)placed->over, at_first = (first - placed->origin) % over;
    const uint32_t number = placement->first_range[population + 1];
    struct range *range = &placement->ranges[number];
    // The range goes on with that of the same rank: one range for both.
    if (over == 1 && number > placement->first_range[population] && range[-1].ranks == 1 &&
        range[-1].first_rank == placed->rank) {
        range[-1].end = end;
        dealt[placed->rank] += end - first;
        return;
    }
    placement->first_range[population + 1]++;
    const uint32_t round = dealt[(uint32_t)placed->rank + at_first] % (uint32_t)placement->threads;
    *range = (struct range){.first = first,
                            .end = end,
                            .population = population,
                            .origin = first - at_first - round * over,
                            .first_rank = placed->rank,
                            .ranks = placed->over};
    for (uint32_t i = 0; i < over; i++) {
        const uint32_t skip = (i + over - at_first) % over;
        dealt[(uint32_t)placed->rank + i] += end - first > skip ? (end - first - skip - 1) / over + 1 : 0;
    }
}

/// Cuts the ranges where populations end. A population without neurons has a range to no rank.
void placement_set_ranges(struct placement *placement, const struct placed_range *ranges, size_t n) {
    const struct network *network = placement->network;
    placement->ranges = ALLOC(struct range, n + network->n_populations);
    uint32_t *dealt = ALLOC_ZERO(uint32_t, (size_t)placement->ranks);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const uint32_t begin = network->populations[p].first, end = begin + network->populations[p].size;
        placement->first_range[p + 1] = placement->first_range[p];
        if (begin == end) {
            placement->ranges[placement->first_range[p + 1]++] =
                (struct range){.first = begin, .end = end, .population = p};
            continue;
        }
        for (uint32_t at = begin; at < end;) {
            while (ranges->end <= at) ranges++;
            const uint32_t stop = ranges->end < end ? ranges->end : end;
            add_range(placement, ranges, p, at, stop, dealt);
            at = stop;
        }
    }
    free(dealt);
}

bool placement_read_weights(struct placement *placement, const json_t *given, const char *field,
                            struct error *error) {
    const size_t ranks = (size_t)placement->ranks;
    if (!json_is_array(given) || json_array_size(given) != ranks)
        return error_set(error, "%s: not %zu values; expected one for each rank", field, ranks);
    placement->weights = ALLOC(double, ranks);
    for (size_t i = 0; i < ranks; i++) {
        const double weight = json_number_value(json_array_get(given, i));
        if (!(weight >= 1e-12 && weight <= 1e12))
            return error_set(error, "%s.%zu: %g; expected a number from 1e-12 to 1e12", field, i, weight);
        placement->weights[i] = weight;
    }
    return true;
}

/// Says whether the ranks from `rank` on have the same weight up to, but not including, the one returned.
static int run_end(const double *weights, int rank, int end) {
    int at = rank + 1;
    while (at < end && !(weights[at] < weights[rank]) && !(weights[at] > weights[rank])) at++;
    return at;
}

bool placement_is_unequal(const struct placement *placement) {
    return placement->weights && run_end(placement->weights, 0, placement->ranks) < placement->ranks;
}

/// The neurons that ranks have so far; both [ranks].
struct dealt {
    uint32_t *before; ///< by the first rank of a span: neurons of earlier populations on these ranks
    uint32_t *turn;   ///< by the first rank of a run of equal ranks: neurons on the run
};

/// Cuts a population between runs of equal ranks. Sums of shares are rounded, so that errors of many
/// populations do not add up. Returns how many ranges there are now.
static size_t cut(const struct population *population, struct area_ranks span, const double *weights,
                  struct dealt *dealt, struct placed_range *ranges, size_t n) {
    const int end = span.first + span.ranks;
    const uint32_t before = dealt->before[span.first];
    // Shares are those of sums of weights, so that rounding one does not shift the next.
    double total = 0, sum = 0;
    for (int rank = span.first; rank < end; rank++) total += weights[rank];
    uint32_t from = 0;
    for (int rank = span.first, next; rank < end; rank = next) {
        next = run_end(weights, rank, end);
        for (int i = rank; i < next; i++) sum += weights[i];
        const double share = sum / total;
        const double until = rint(((double)before + population->size) * share) - rint(before * share);
        const double most = next == end ? population->size : fmin(fmax(until, from), population->size);
        const uint32_t to = (uint32_t)most, first = population->first + from;
        if (to > from)
            ranges[n++] = (struct placed_range){.first = first,
                                                .end = population->first + to,
                                                .origin = first - dealt->turn[rank] % (uint32_t)(next - rank),
                                                .rank = rank,
                                                .over = next - rank};
        dealt->turn[rank] += to - from;
        from = to;
    }
    dealt->before[span.first] += population->size;
    return n;
}

void placement_share_by_weights(struct placement *placement) {
    const struct network *network = placement->network;
    const size_t ranks = (size_t)placement->ranks;
    struct area_ranks *spans = ALLOC(struct area_ranks, network->n_areas);
    if (placement->rule->spread == spread_over_all)
        placement_spread_all(network, placement->ranks, placement->weights, spans);
    else
        placement_spread_in_order(network, placement->ranks, placement->weights, spans);
    // A population has at most as many ranges as its area has ranks.
    size_t most = 0, n = 0;
    for (uint32_t p = 0; p < network->n_populations; p++)
        most += (size_t)spans[network->populations[p].area].ranks;
    struct placed_range *ranges = ALLOC(struct placed_range, most);
    struct dealt dealt = {ALLOC_ZERO(uint32_t, ranks), ALLOC_ZERO(uint32_t, ranks)};
    for (uint32_t p = 0; p < network->n_populations; p++)
        n = cut(&network->populations[p], spans[network->populations[p].area], placement->weights, &dealt,
                ranges, n);
    placement_set_ranges(placement, ranges, n);
    FREE(dealt.before, dealt.turn, ranges, spans);
}

/// Areas in their order, and ranks with weights.
struct row {
    const uint64_t *size;     ///< [n_areas]
    const double *weights;    ///< [ranks]
    struct area_ranks *spans; ///< [n_areas] filled in
    uint32_t n_areas;
    int ranks;
};

/// Lays the areas on the ranks in their order, so that no rank has more than `most` times its weight: an area
/// goes to the rank of the last one if it fits, else to the next rank, or to as many as it needs.
/// \return the number of ranks that takes; one more than there are where they are too few.
static int lay(const struct row *row, double most) {
    int rank = 0; // the next one that is empty
    double room = 0;
    for (uint32_t area = 0; area < row->n_areas; area++) {
        const double size = (double)row->size[area];
        row->spans[area] = (struct area_ranks){rank > 0 ? rank - 1 : 0, 1};
        if (row->size[area] == 0) continue;
        if (size <= room) {
            room -= size;
            continue;
        }
        row->spans[area].first = rank;
        for (room = 0; room < size && rank < row->ranks; rank++) room += most * row->weights[rank];
        if (room < size) return row->ranks + 1;
        row->spans[area].ranks = rank - row->spans[area].first;
        room = row->spans[area].ranks > 1 ? 0 : room - size;
    }
    return rank;
}

/// Gives the ranks that are left to the last area, where that makes no rank fuller than `most` allows.
static void spend(const struct row *row, int used, double most) {
    uint32_t last = row->n_areas - 1;
    double weights = 0;
    while (row->size[last] == 0) last--;
    struct area_ranks *span = &row->spans[last];
    bool alone = true;
    for (uint32_t area = 0; area < last; area++)
        alone = alone && (row->size[area] == 0 || row->spans[area].first != span->first);
    for (int rank = used; rank < row->ranks; rank++) weights += row->weights[rank];
    if (alone)
        span->ranks += row->ranks - used;
    else if ((double)row->size[last] <= most * weights)
        *span = (struct area_ranks){used, row->ranks - used};
}

/// Finds the smallest possible load of the fullest rank, over its weight, with the areas in their order.
void placement_spread_in_order(const struct network *network, int ranks, const double *weights,
                               struct area_ranks *spans) {
    enum { halvings = 60 }; // more than a double has bits
    uint64_t *size = placement_area_sizes(network);
    const struct row row = {size, weights, spans, network->n_areas, ranks};
    double total = 0;
    for (int rank = 0; rank < ranks; rank++) total += weights[rank];
    // The best possible load, and one that certainly suffices: all neurons on the first rank.
    double low = network->n_neurons / total, high = network->n_neurons / weights[0] * 1.000001;
    for (int i = 0; i < halvings; i++) {
        const double middle = (low + high) / 2;
        if (lay(&row, middle) <= ranks)
            high = middle;
        else
            low = middle;
    }
    const int used = lay(&row, high);
    if (used < ranks) spend(&row, used, high);
    free(size);
}

/// Spreads every area over all ranks.
void placement_spread_all(const struct network *network, int ranks, const double *weights,
                          struct area_ranks *spans) {
    (void)weights;
    for (uint32_t area = 0; area < network->n_areas; area++) spans[area] = (struct area_ranks){0, ranks};
}

static const struct rank_weights_hooks hooks = {
    .read = placement_read_weights, .unequal = placement_is_unequal, .place = placement_share_by_weights};
const struct rank_weights_hooks *const rank_weights_hooks = &hooks;
