/// \file
/// Placement decides which rank and thread owns a neuron.
///
/// A placement deals ranges of neurons. Each range lies in one population and is dealt, neuron by neuron,
/// over a group of consecutive ranks and all their threads: unit = (gid - origin) mod (ranks of the group x
/// threads), rank = first rank + unit mod ranks, thread = unit div ranks. So the neurons that a thread owns
/// of a range are equally spaced. A rule is a few functions and a line of the table in placement.c.

#pragma once

#include "description/network.h"

/// Says how the neurons first ... end - 1 of one population are dealt.
struct deal {
    uint32_t first, end, population;
    uint32_t origin;       ///< id from which the dealing counts, modulo 2^32
    int first_rank, ranks; ///< no ranks: only in a file, for a population without neurons
};

struct placement {
    const struct placement_rule *rule;
    const struct network *network;
    int ranks, threads;
    struct deal *deals; ///< [first_deal[populations]] by id, which ascends; every neuron is in one
    /// [populations + 1] number of the first deal of a population. Each population has at least one.
    uint32_t *first_deal;
    double *weights; ///< [ranks] what each rank shall have, in any unit; NULL: ranks are equal
};

/// Consecutive ranks that hold an area.
struct area_ranks {
    int first, ranks;
};

struct placement_rule {
    const char *name;
    const char *summary; ///< one line for --list
    /// Fills in origin, first_rank and ranks of deals[population], one for each population. Fails where the
    /// rule cannot work on so many ranks. NULL where a file says it.
    bool (*deal)(const struct network *network, int ranks, struct deal *deals, struct error *error);
    /// Makes the deals of `placement` as a placement file says, in ascending order. NULL for all other rules.
    bool (*deal_file)(struct placement *placement, const json_t *file, struct error *error);
    /// Says which ranks hold each area, spans[area], where ranks have unequal weights, in proportion to which
    /// they share its neurons. Two areas share all ranks or none. NULL: the rule knows equal ranks only.
    void (*spread)(const struct network *network, int ranks, const double *weights, struct area_ranks *spans);
};

extern const struct placement_rule *const placement_rules[];

/// Neurons of one deal that one thread owns: first, first + stride, ...
struct share {
    uint32_t first, stride, count;
};

static inline const struct placement_rule *placement_find(const char *name) {
    return registry_find(placement_rules, name);
}

/// Opens a placement. `file` is the content of the placement file, for a rule that has deal_file; `weights`
/// is a list with a number for each rank, or NULL where the ranks are equal. Neither is needed afterwards.
/// Close the placement also after a failure.
bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, const json_t *file,
                    const json_t *weights, struct error *error);
void placement_close(struct placement *placement);

/// Returns the neurons of deal number `deal` that a thread owns.
struct share placement_share(const struct placement *placement, uint32_t deal, int rank, int thread);

static inline uint32_t placement_deals(const struct placement *placement) {
    return placement->first_deal[placement->network->n_populations];
}

static inline int deal_rank(const struct deal *deal, uint32_t gid) {
    return deal->first_rank + (int)((gid - deal->origin) % (uint32_t)deal->ranks);
}

/// Returns the thread that owns it there, of `threads`.
static inline int deal_thread(const struct deal *deal, int threads, uint32_t gid) {
    const uint32_t ranks = (uint32_t)deal->ranks, units = ranks * (uint32_t)threads;
    return (int)((gid - deal->origin) % units / ranks);
}

/// Returns the number of neurons of one population on a rank.
uint32_t placement_count(const struct placement *placement, uint32_t population, int rank);

void placement_neurons(const struct placement *placement, uint32_t *neurons);

/// Returns the largest load of a rank over what it shall have: its share of all neurons, by its weight.
double placement_balance(const struct placement *placement);
