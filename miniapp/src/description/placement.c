#include "description/placement.h"

#include "base/alloc.h"
#include "description/unequal.h"
#include <stdlib.h>

extern const struct placement_rule placement_round_robin, placement_area, placement_area_group,
    placement_from_file;

const struct placement_rule *const placement_rules[] = {&placement_round_robin, &placement_area,
                                                        &placement_area_group, &placement_from_file, NULL};

static bool deal_populations(struct placement *placement, struct error *error) {
    const struct network *network = placement->network;
    placement->deals = ALLOC_ZERO(struct deal, network->n_populations);
    if (!placement->rule->deal(network, placement->ranks, placement->deals, error)) return false;
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const struct population *population = &network->populations[p];
        placement->deals[p].first = population->first;
        placement->deals[p].end = population->first + population->size;
        placement->deals[p].population = p;
        placement->first_deal[p + 1] = p + 1;
    }
    return true;
}

bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, const json_t *file,
                    struct error *error) {
    return placement_open_unequal(placement, rule, network, ranks, threads, file, NULL, error);
}

bool placement_open_unequal(struct placement *placement, const struct placement_rule *rule,
                            const struct network *network, int ranks, int threads, const json_t *file,
                            const json_t *weights, struct error *error) {
    *placement = (struct placement){.rule = rule, .network = network, .ranks = ranks, .threads = threads};
    placement->first_deal = ALLOC_ZERO(uint32_t, (size_t)network->n_populations + 1);
    enum { most = 10000000 };
    if ((int64_t)ranks * threads > most)
        return error_set(error, "ranks x threads: %d x %d; expected at most %d", ranks, threads, most);
    if (weights && !placement_read_weights(placement, weights, "placement.weights", error)) return false;
    if (rule->deal_file) return rule->deal_file(placement, file, error);
    if (!placement_is_unequal(placement)) return deal_populations(placement, error);
    placement_deal_weights(placement);
    return true;
}

void placement_close(struct placement *placement) {
    free(placement->deals);
    free(placement->first_deal);
    free(placement->weights);
}

/// Returns which neurons of a deal unit number `unit` of `stride` owns.
static struct share share_of(const struct deal *deal, uint32_t unit, uint32_t stride) {
    const uint32_t size = deal->end - deal->first;
    const uint32_t at_first = (deal->first - deal->origin) % stride; // the unit that owns the first neuron
    const uint32_t skip = (unit + stride - at_first) % stride;
    const uint32_t count = size > skip ? (size - skip - 1) / stride + 1 : 0;
    return (struct share){deal->first + skip, stride, count};
}

static bool deals_to(const struct deal *deal, int rank) {
    return rank >= deal->first_rank && rank < deal->first_rank + deal->ranks;
}

struct share placement_share(const struct placement *placement, uint32_t number, int rank, int thread) {
    const struct deal *deal = &placement->deals[number];
    const uint32_t stride = (uint32_t)(deal->ranks * placement->threads);
    if (!deals_to(deal, rank)) return (struct share){0, stride, 0};
    return share_of(deal, (uint32_t)(rank - deal->first_rank + thread * deal->ranks), stride);
}

static uint32_t count_of(const struct deal *deal, int rank) {
    return share_of(deal, (uint32_t)(rank - deal->first_rank), (uint32_t)deal->ranks).count;
}

uint32_t placement_count(const struct placement *placement, uint32_t population, int rank) {
    uint32_t n = 0;
    for (uint32_t k = placement->first_deal[population]; k < placement->first_deal[population + 1]; k++)
        if (deals_to(&placement->deals[k], rank)) n += count_of(&placement->deals[k], rank);
    return n;
}

uint32_t placement_thread_count(const struct placement *placement, uint32_t population, int rank,
                                int thread) {
    uint32_t n = 0;
    for (uint32_t k = placement->first_deal[population]; k < placement->first_deal[population + 1]; k++)
        n += placement_share(placement, k, rank, thread).count;
    return n;
}

void placement_neurons(const struct placement *placement, uint32_t *neurons) {
    for (int rank = 0; rank < placement->ranks; rank++) neurons[rank] = 0;
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        for (int i = 0; i < deal->ranks; i++)
            neurons[deal->first_rank + i] += count_of(deal, deal->first_rank + i);
    }
}

double placement_balance(const struct placement *placement) {
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    double most = 0, weights = 0;
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        const double weight = placement->weights ? placement->weights[rank] : 1;
        most = fmax(most, neurons[rank] / weight);
        weights += weight;
    }
    free(neurons);
    return most * weights / placement->network->n_neurons;
}

// -------------------- area

/// Returns the id of the first neuron of the area that `population` belongs to.
static uint32_t area_origin(const struct network *network, uint32_t population) {
    uint32_t p = 0;
    while (network->populations[p].area != network->populations[population].area) p++;
    return network->populations[p].first;
}

/// Deals the areas to the ranks in the order of their first appearance (Lober et al. 2026 have one area per
/// rank).
static bool deal_areas(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    if (network->n_areas < (uint32_t)ranks)
        return error_set(error,
                         "placement: \"area\" cannot deal %u area(s) to %d ranks; expected at most %u ranks, "
                         "or placement area_group",
                         network->n_areas, ranks, network->n_areas);
    for (uint32_t p = 0; p < network->n_populations; p++)
        deals[p] = (struct deal){.origin = area_origin(network, p),
                                 .first_rank = (int)(network->populations[p].area % (uint32_t)ranks),
                                 .ranks = 1};
    return true;
}

const struct placement_rule placement_area = {
    .name = "area",
    .summary = "areas dealt to ranks, an area on one rank",
    .deal = deal_areas,
};

// -------------------- round_robin

/// Deals every population to all ranks, as general simulators do (NEST deals neuron ids to virtual
/// processes).
static bool deal_all(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    (void)error;
    for (uint32_t p = 0; p < network->n_populations; p++)
        deals[p] = (struct deal){.origin = 0, .first_rank = 0, .ranks = ranks};
    return true;
}

const struct placement_rule placement_round_robin = {
    .name = "round_robin",
    .summary = "neurons dealt one by one to all ranks and threads",
    .deal = deal_all,
    .spread = placement_spread_all,
};
