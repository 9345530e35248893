/// \file
/// The placement `area_group`: areas on as many ranks as their size needs, so that the fullest rank has
/// as few neurons as possible.
///
/// First-fit packing with the largest area first, repeated by bisection over the neurons of the fullest
/// rank; ranks that are left then go to the fullest areas. Cost: areas squared, some 30 times.
/// Neighbouring areas get neighbouring ranks.

#include "base/alloc.h"
#include "description/placement.h"

/// A bin that areas are packed into: one area over several ranks, or several areas on one rank.
struct bin {
    uint64_t neurons;
    uint32_t first_area, areas; ///< the lowest of them, and how many that are not empty
    int ranks;
};

/// The state while areas are packed.
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
        // The first bin that has room, of those on one rank.
        while (b < p->n_bins && (p->bin[b].ranks > 1 || p->bin[b].neurons + size > most)) b++;
        // An area that needs several ranks shares them with no other.
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
static void number(const struct packing *p, const struct network *network, struct range *ranges) {
    int rank = 0;
    for (uint32_t area = 0; area < p->n_areas; area++) {
        const struct bin *bin = &p->bin[p->bin_of[area]];
        if (bin->first_area != area) continue;
        for (uint32_t i = 0; i < network->n_populations; i++) {
            uint32_t other = network->populations[i].area;
            if (p->bin_of[other] != p->bin_of[area]) continue;
            ranges[i] = (struct range){
                .origin = placement_area_origin(network, i), .first_rank = rank, .ranks = bin->ranks};
        }
        rank += bin->ranks;
    }
}

/// Finds the smallest possible number of neurons on the fullest rank, and gives the ranks that are left to
/// where they help.
static bool deal_groups(const struct network *network, int ranks, struct range *ranges, struct error *error) {
    (void)error;
    const uint32_t n = network->n_areas;
    uint64_t *size = placement_area_sizes(network);
    uint32_t *order = ALLOC(uint32_t, n);
    sort(size, order, n);
    struct packing p = {.size = size, .order = order, .n_areas = n, .ranks = ranks};
    p.bin = ALLOC(struct bin, n);
    p.bin_of = ALLOC_ZERO(uint32_t, n);
    // The fewest neurons of the fullest rank for which the ranks suffice, by bisection.
    uint64_t low = 1, high = network->n_neurons;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (pack(&p, middle) <= (uint64_t)ranks)
            high = middle;
        else
            low = middle + 1;
    }
    // Packing may need fewer ranks than there are.
    for (uint64_t used = pack(&p, low); used < (uint64_t)ranks; used++) spend_rank(&p);
    number(&p, network, ranges);
    FREE(size, order, p.bin, p.bin_of);
    return true;
}

const struct placement_rule placement_area_group = {
    .name = "area_group",
    .summary = "an area on ranks in proportion to its size, small areas together on one",
    .place = deal_groups,
    .spread = spread_in_order,
};
