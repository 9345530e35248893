/// \file
/// Who owns a neuron: opens a placement by its rule, and answers for ranks and threads.
///
/// A rule (placement/, one file each) says only over which ranks each population is dealt. Everything else
/// follows by arithmetic from that, in both directions: which neurons a thread has (placement_share()), and
/// who has a neuron (range_rank(), range_thread()). So no rank keeps a table of all neurons. Variants add a
/// rule that reads a file, and weights of ranks.
///
/// Memory: 24 bytes for each range of neurons, not for each neuron.

#include "description/placement.h"

#include "base/alloc.h"
#include <math.h>
#include <stdlib.h>

/// Threads of all ranks at most: a limit of the arithmetic, not of any machine. Ranks and their numbers are
/// ints, and strides of placement are ranks x threads in 32 bits; ten million leave a factor of 400.
enum { most_units = 10000000 };

/// Lets the rule deal the populations, a range for each.
static bool deal_populations(struct placement *placement, struct error *error) {
    const struct network *network = placement->network;
    placement->ranges = ALLOC_ZERO(struct range, network->n_populations);
    if (!placement->rule->place(network, placement->ranks, placement->ranges, error)) return false;
    for (uint32_t p = 0; p < network->n_populations; p++) {
        const struct population *population = &network->populations[p];
        placement->ranges[p].first = population->first;
        placement->ranges[p].end = population->first + population->size;
        placement->ranges[p].population = p;
        placement->first_range[p + 1] = p + 1;
    }
    return true;
}

bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, const json_t *file,
                    const json_t *weights, struct error *error) {
    *placement = (struct placement){.rule = rule, .network = network, .ranks = ranks, .threads = threads};
    placement->first_range = ALLOC_ZERO(uint32_t, (size_t)network->n_populations + 1);
    if ((int64_t)ranks * threads > most_units)
        return error_set(error, "ranks x threads: %d x %d; expected at most %d", ranks, threads, most_units);
    // Ranks that differ need the variants; ranks that are equal need nothing more than the rule.
    if (weights && !rank_weights_hooks)
        return error_set(error, "placement.weights: given; expected none, as this mini-app has no variants");
    if (weights && !rank_weights_hooks->read(placement, weights, "placement.weights", error)) return false;
    if (rule->read_file) return rule->read_file(placement, file, error);
    if (!weights || !rank_weights_hooks->unequal(placement)) return deal_populations(placement, error);
    rank_weights_hooks->place(placement);
    return true;
}

void placement_close(struct placement *placement) {
    FREE(placement->ranges, placement->first_range, placement->weights);
}

/// Returns which neurons of a range unit number `unit` of `stride` owns.
static struct share share_of(const struct range *range, uint32_t unit, uint32_t stride) {
    // Units own every stride-th neuron; the first of this unit lies `skip` after the first of the range.
    const uint32_t size = range->end - range->first;
    const uint32_t at_first = (range->first - range->origin) % stride; // the unit that owns the first neuron
    const uint32_t skip = (unit + stride - at_first) % stride;
    const uint32_t count = size > skip ? (size - skip - 1) / stride + 1 : 0;
    return (struct share){range->first + skip, stride, count};
}

/// Says whether a rank has neurons of a range.
static bool deals_to(const struct range *range, int rank) {
    return rank >= range->first_rank && rank < range->first_rank + range->ranks;
}

struct share placement_share(const struct placement *placement, uint32_t number, int rank, int thread) {
    const struct range *range = &placement->ranges[number];
    const uint32_t stride = (uint32_t)(range->ranks * placement->threads);
    if (!deals_to(range, rank)) return (struct share){0, stride, 0};
    return share_of(range, (uint32_t)(rank - range->first_rank + thread * range->ranks), stride);
}

/// Returns how many neurons of a range a rank has, all threads together.
static uint32_t count_of(const struct range *range, int rank) {
    return share_of(range, (uint32_t)(rank - range->first_rank), (uint32_t)range->ranks).count;
}

uint32_t placement_count(const struct placement *placement, uint32_t population, int rank) {
    uint32_t n = 0;
    for (uint32_t k = placement->first_range[population]; k < placement->first_range[population + 1]; k++)
        if (deals_to(&placement->ranges[k], rank)) n += count_of(&placement->ranges[k], rank);
    return n;
}

void placement_neurons(const struct placement *placement, uint32_t *neurons) {
    for (int rank = 0; rank < placement->ranks; rank++) neurons[rank] = 0;
    for (uint32_t k = 0; k < placement_ranges(placement); k++) {
        const struct range *range = &placement->ranges[k];
        for (int i = 0; i < range->ranks; i++)
            neurons[range->first_rank + i] += count_of(range, range->first_rank + i);
    }
}

double placement_balance(const struct placement *placement) {
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    // Load over weight, relative to all neurons over all weights: 1 is perfect.
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

uint64_t *placement_area_sizes(const struct network *network) {
    uint64_t *size = ALLOC_ZERO(uint64_t, network->n_areas);
    for (uint32_t i = 0; i < network->n_populations; i++)
        size[network->populations[i].area] += network->populations[i].size;
    return size;
}

uint32_t placement_area_origin(const struct network *network, uint32_t population) {
    uint32_t p = 0;
    while (network->populations[p].area != network->populations[population].area) p++;
    return network->populations[p].first;
}
