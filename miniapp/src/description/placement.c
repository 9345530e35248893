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
    FREE(placement->deals, placement->first_deal, placement->weights);
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

// -------------------- area_group

/// A bin that areas are packed into: one area over several ranks, or several areas on one rank.
struct bin {
    uint64_t neurons;
    uint32_t first_area, areas; ///< the lowest of them, and how many that are not empty
    int ranks;
};

struct packing {
    const uint64_t *size;  ///< [n_areas] neurons
    const uint32_t *order; ///< [n_areas] areas, largest first
    uint32_t n_areas;
    struct bin *bin;  ///< [n_areas]
    uint32_t *bin_of; ///< [n_areas]
    uint32_t n_bins;
    int ranks;
};

/// Packs the areas so that no rank has more than `most` neurons, by first fit with the largest area first.
/// \return the number of ranks that takes.
static uint64_t pack(struct packing *p, uint64_t most) {
    uint64_t ranks = 0;
    p->n_bins = 0;
    for (uint32_t i = 0; i < p->n_areas; i++) {
        uint32_t area = p->order[i], b = 0;
        uint64_t size = p->size[area], needed = size > most ? (size + most - 1) / most : 1;
        while (b < p->n_bins && (p->bin[b].ranks > 1 || p->bin[b].neurons + size > most)) b++;
        if (needed > 1) b = p->n_bins;
        if (b == p->n_bins) {
            p->bin[p->n_bins++] = (struct bin){.first_area = area, .ranks = (int)needed};
            ranks += needed;
        }
        p->bin[b].neurons += size;
        p->bin[b].areas += size > 0;
        p->bin[b].first_area = area < p->bin[b].first_area ? area : p->bin[b].first_area;
        p->bin_of[area] = b;
        if (ranks > (uint64_t)p->ranks) return ranks;
    }
    return ranks;
}

/// Gives a rank that is left over to the fullest area that has ranks of its own. Where no area has, it takes
/// an area away from the fullest bin.
static void spend_rank(struct packing *p) {
    uint32_t fullest = 0;
    double most = -1;
    for (uint32_t b = 0; b < p->n_bins; b++) {
        double load = (double)p->bin[b].neurons / p->bin[b].ranks;
        if (load <= most) continue;
        most = load;
        fullest = b;
    }
    struct bin *bin = &p->bin[fullest];
    if (bin->areas == 1) {
        bin->ranks++;
        return;
    }
    uint32_t moved = 0;
    while (p->bin_of[moved] != fullest || p->size[moved] == 0) moved++;
    bin->neurons -= p->size[moved];
    bin->areas--;
    p->bin[p->n_bins] = (struct bin){p->size[moved], moved, 1, 1};
    p->bin_of[moved] = p->n_bins++;
    bin->first_area = 0;
    while (p->bin_of[bin->first_area] != fullest) bin->first_area++;
}

/// Sorts the areas by size, the largest first, and areas of equal size by number.
static void sort(const uint64_t *size, uint32_t *order, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && size[order[at - 1]] < size[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/// Numbers the ranks by the lowest area on each, so that neighbouring areas have neighbouring ranks.
static void number(const struct packing *p, const struct network *network, struct deal *deals) {
    int rank = 0;
    for (uint32_t area = 0; area < p->n_areas; area++) {
        const struct bin *bin = &p->bin[p->bin_of[area]];
        if (bin->first_area != area) continue;
        for (uint32_t i = 0; i < network->n_populations; i++) {
            uint32_t other = network->populations[i].area;
            if (p->bin_of[other] != p->bin_of[area]) continue;
            deals[i] =
                (struct deal){.origin = area_origin(network, i), .first_rank = rank, .ranks = bin->ranks};
        }
        rank += bin->ranks;
    }
}

/// Returns the neurons of each area, [n_areas]; the caller frees it.
uint64_t *placement_area_sizes(const struct network *network) {
    uint64_t *size = ALLOC_ZERO(uint64_t, network->n_areas);
    for (uint32_t i = 0; i < network->n_populations; i++)
        size[network->populations[i].area] += network->populations[i].size;
    return size;
}

/// Finds the smallest possible number of neurons on the fullest rank, and gives the ranks that are left to
/// where they help.
static bool deal_groups(const struct network *network, int ranks, struct deal *deals, struct error *error) {
    (void)error;
    const uint32_t n = network->n_areas;
    uint64_t *size = placement_area_sizes(network);
    uint32_t *order = ALLOC(uint32_t, n);
    sort(size, order, n);
    struct packing p = {.size = size, .order = order, .n_areas = n, .ranks = ranks};
    p.bin = ALLOC(struct bin, n);
    p.bin_of = ALLOC_ZERO(uint32_t, n);
    uint64_t low = 1, high = network->n_neurons;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (pack(&p, middle) <= (uint64_t)ranks)
            high = middle;
        else
            low = middle + 1;
    }
    for (uint64_t used = pack(&p, low); used < (uint64_t)ranks; used++) spend_rank(&p);
    number(&p, network, deals);
    FREE(size, order, p.bin, p.bin_of);
    return true;
}

const struct placement_rule placement_area_group = {
    .name = "area_group",
    .summary = "an area on ranks in proportion to its size, small areas together on one",
    .deal = deal_groups,
    .spread = placement_spread_in_order,
};
