#include "description/placement_weights.h"

#include "base/alloc.h"
#include "description/placement_ranges.h"
#include <math.h>
#include <stdlib.h>

bool placement_read_weights(struct placement *placement, const json_t *given, const char *field,
                            struct error *error) {
    const size_t ranks = (size_t)placement->ranks;
    if (!json_is_array(given) || json_array_size(given) != ranks)
        return error_set(error, "%s: not %zu values; allowed: one for each rank", field, ranks);
    placement->weights = ALLOC(double, ranks);
    for (size_t i = 0; i < ranks; i++) {
        const double weight = json_number_value(json_array_get(given, i));
        if (!(weight >= 1e-12 && weight <= 1e12))
            return error_set(error, "%s.%zu: %g; allowed: a number from 1e-12 to 1e12", field, i, weight);
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
    free(dealt.before);
    free(dealt.turn);
    free(ranges);
    free(spans);
}
