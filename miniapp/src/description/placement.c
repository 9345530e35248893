#include "description/placement.h"

#include "base/alloc.h"
#include <stdlib.h>

extern const struct placement_rule placement_round_robin, placement_area, placement_area_group;

const struct placement_rule *const placement_rules[] = {&placement_round_robin, &placement_area,
                                                        &placement_area_group, NULL};

bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, struct error *error) {
    *placement = (struct placement){.rule = rule, .network = network, .ranks = ranks, .threads = threads};
    placement->deals = ALLOC_ZERO(struct deal, network->n_populations);
    enum { most = 10000000 };
    if ((int64_t)ranks * threads > most)
        return error_set(error, "ranks x threads: %d x %d; allowed: at most %d", ranks, threads, most);
    return rule->deal(network, ranks, placement->deals, error);
}

void placement_close(struct placement *placement) {
    free(placement->deals);
}

struct share placement_share(const struct placement *placement, uint32_t population, int rank, int thread) {
    const struct population *p = &placement->network->populations[population];
    const struct deal *deal = &placement->deals[population];
    uint32_t stride = (uint32_t)(deal->ranks * placement->threads);
    if (rank < deal->first_rank || rank >= deal->first_rank + deal->ranks)
        return (struct share){0, stride, 0};

    uint32_t unit = (uint32_t)(rank - deal->first_rank + thread * deal->ranks);
    uint32_t at_first = (p->first - deal->origin) % stride; // the unit that owns the first neuron
    uint32_t skip = (unit + stride - at_first) % stride;
    uint32_t count = p->size > skip ? (p->size - skip - 1) / stride + 1 : 0;
    return (struct share){p->first + skip, stride, count};
}

uint32_t placement_count(const struct placement *placement, uint32_t population, int rank) {
    const struct population *p = &placement->network->populations[population];
    const struct deal *deal = &placement->deals[population];
    const uint32_t ranks = (uint32_t)deal->ranks;
    if (rank < deal->first_rank || rank >= deal->first_rank + deal->ranks) return 0;
    const uint32_t at_first = (p->first - deal->origin) % ranks; // the rank that owns the first neuron
    const uint32_t skip = ((uint32_t)(rank - deal->first_rank) + ranks - at_first) % ranks;
    return p->size > skip ? (p->size - skip - 1) / ranks + 1 : 0;
}

uint32_t placement_neurons(const struct placement *placement, int rank) {
    uint32_t neurons = 0;
    for (uint32_t p = 0; p < placement->network->n_populations; p++)
        neurons += placement_count(placement, p, rank);
    return neurons;
}
