/// \file
/// Placement decides which rank and thread owns a neuron.
///
/// A placement rule deals each population, neuron by neuron, over a group of consecutive ranks and all their
/// threads: unit = (gid - origin) mod (ranks of the group x threads), rank = first rank + unit mod ranks,
/// thread = unit div ranks. So the owner of any neuron follows from its id, and the neurons that a thread
/// owns of a population are equally spaced. A rule is one file under placement/ and one line in placement.c.

#ifndef DESCRIPTION_PLACEMENT_H
#define DESCRIPTION_PLACEMENT_H

#include "base/registry.h"
#include "description/network.h"

/// Says how one population is dealt.
struct deal {
    uint32_t origin; ///< id from which the dealing counts
    int first_rank, ranks;
};

struct placement_rule {
    const char *name;
    const char *summary; ///< one line for --list
    /// Fills deals[population] for `ranks` ranks. Fails where the rule cannot work on so many.
    bool (*deal)(const struct network *network, int ranks, struct deal *deals, struct error *error);
};

/// All rules, ended by NULL.
extern const struct placement_rule *const placement_rules[];

struct placement {
    const struct placement_rule *rule;
    const struct network *network;
    int ranks, threads;
    struct deal *deals; ///< [populations]
};

/// The neurons of one population that one thread owns: first, first + stride, ...
struct share {
    uint32_t first, stride, count;
};

/// Returns the rule of that name, or NULL.
static inline const struct placement_rule *placement_find(const char *name) {
    return registry_find(placement_rules, name);
}

bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, struct error *error);

void placement_close(struct placement *placement);

struct share placement_share(const struct placement *placement, uint32_t population, int rank, int thread);

/// Returns the rank that owns neuron `gid` of population number `population`.
static inline int placement_rank(const struct placement *placement, uint32_t population, uint32_t gid) {
    const struct deal *deal = &placement->deals[population];
    return deal->first_rank + (int)((gid - deal->origin) % (uint32_t)deal->ranks);
}

/// Returns the thread that owns it there.
static inline int placement_thread(const struct placement *placement, uint32_t population, uint32_t gid) {
    const struct deal *deal = &placement->deals[population];
    const uint32_t ranks = (uint32_t)deal->ranks, units = ranks * (uint32_t)placement->threads;
    return (int)((gid - deal->origin) % units / ranks);
}

/// Returns the number of neurons of one population on a rank.
uint32_t placement_count(const struct placement *placement, uint32_t population, int rank);

/// Returns the number of neurons on a rank.
uint32_t placement_neurons(const struct placement *placement, int rank);

#endif
