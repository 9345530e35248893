#include "description/unequal.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Adds the neurons first ... end - 1 of a range, to the last deal if that has the same rank. The threads of
/// a rank take turns from one deal to the next: otherwise thread 0 would get the first neuron of each.
/// `dealt` [ranks] counts the neurons on each rank.
static void add_deal(struct placement *placement, const struct range *range, uint32_t population,
                     uint32_t first, uint32_t end, uint32_t *dealt) {
    const uint32_t over = (uint32_t)range->over, at_first = (first - range->origin) % over;
    const uint32_t number = placement->first_deal[population + 1];
    struct deal *deal = &placement->deals[number];
    if (over == 1 && number > placement->first_deal[population] && deal[-1].ranks == 1 &&
        deal[-1].first_rank == range->rank) {
        deal[-1].end = end;
        dealt[range->rank] += end - first;
        return;
    }
    placement->first_deal[population + 1]++;
    const uint32_t round = dealt[(uint32_t)range->rank + at_first] % (uint32_t)placement->threads;
    *deal = (struct deal){.first = first,
                          .end = end,
                          .population = population,
                          .origin = first - at_first - round * over,
                          .first_rank = range->rank,
                          .ranks = range->over};
    for (uint32_t i = 0; i < over; i++) {
        const uint32_t skip = (i + over - at_first) % over;
        dealt[(uint32_t)range->rank + i] += end - first > skip ? (end - first - skip - 1) / over + 1 : 0;
    }
}

/// Cuts the ranges where populations end. A population without neurons has a deal to no rank.
void placement_deal_ranges(struct placement *placement, const struct range *ranges, size_t n) {
    const struct network *network = placement->network;
    placement->deals = ALLOC(struct deal, n + network->n_populations);
    uint32_t *dealt = ALLOC_ZERO(uint32_t, (size_t)placement->ranks);
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const uint32_t begin = network->populations[p].first, end = begin + network->populations[p].size;
        placement->first_deal[p + 1] = placement->first_deal[p];
        if (begin == end) {
            placement->deals[placement->first_deal[p + 1]++] =
                (struct deal){.first = begin, .end = end, .population = p};
            continue;
        }
        for (uint32_t at = begin; at < end;) {
            while (ranges->end <= at) ranges++;
            const uint32_t stop = ranges->end < end ? ranges->end : end;
            add_deal(placement, ranges, p, at, stop, dealt);
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
                  struct dealt *dealt, struct range *ranges, size_t n) {
    const int end = span.first + span.ranks;
    const uint32_t before = dealt->before[span.first];
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
            ranges[n++] = (struct range){.first = first,
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

void placement_deal_weights(struct placement *placement) {
    const struct network *network = placement->network;
    const size_t ranks = (size_t)placement->ranks;
    struct area_ranks *spans = ALLOC(struct area_ranks, network->n_areas);
    placement->rule->spread(network, placement->ranks, placement->weights, spans);
    size_t most = 0, n = 0;
    for (uint32_t p = 0; p < network->n_populations; p++)
        most += (size_t)spans[network->populations[p].area].ranks;
    struct range *ranges = ALLOC(struct range, most);
    struct dealt dealt = {ALLOC_ZERO(uint32_t, ranks), ALLOC_ZERO(uint32_t, ranks)};
    for (uint32_t p = 0; p < network->n_populations; p++)
        n = cut(&network->populations[p], spans[network->populations[p].area], placement->weights, &dealt,
                ranges, n);
    placement_deal_ranges(placement, ranges, n);
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
    enum { halvings = 60 };
    uint64_t *size = placement_area_sizes(network);
    const struct row row = {size, weights, spans, network->n_areas, ranks};
    double total = 0;
    for (int rank = 0; rank < ranks; rank++) total += weights[rank];
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
