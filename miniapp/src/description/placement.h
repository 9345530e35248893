/// \file
/// Placement decides which rank and thread owns a neuron.
///
/// A placement deals ranges of neurons. Each range lies in one population and is dealt, neuron by neuron,
/// over consecutive ranks and all their threads: unit = (gid - origin) mod (ranks x threads), rank = first
/// rank + unit mod ranks, thread = unit div ranks. So the neurons that a thread owns of a range are equally
/// spaced.
///
/// To add a rule: write its file in placement/ with its struct placement_NAME, and name it in CORE_PLACEMENTS
/// below or, outside the core, in VARIANT_PLACEMENTS (variants/description/placements.c).
///
/// Example: a range from neuron 0 on, dealt over 2 ranks with 2 threads, from rank 4 on:
///
///     neuron   0  1  2  3  4  5  6  7
///     unit     0  1  2  3  0  1  2  3
///     rank     4  5  4  5  4  5  4  5
///     thread   0  0  1  1  0  0  1  1

#pragma once

#include "base/registry.h"
#include "description/network.h"

/// Says how the neurons first ... end - 1 of one population are dealt.
struct range {
    uint32_t first, end; ///< ids, from the first to one beyond the last
    uint32_t population; ///< number of the population in which the range lies
    uint32_t origin;     ///< id from which the dealing counts, modulo 2^32
    int first_rank;      ///< the lowest rank to which the neurons are dealt
    int ranks;           ///< how many there are; 0 only in a file, for a population without neurons
};

/// Who owns which neurons. The same on all ranks.
struct placement {
    const struct placement_rule *rule; ///< by which it was opened
    const struct network *network;     ///< borrowed
    int ranks, threads;                ///< of the run; threads of each rank
    struct range *ranges; ///< [first_range[populations]] by id, which ascends; every neuron is in one
    /// [populations + 1] number of the first range of a population. Each population has at least one.
    uint32_t *first_range; ///< owned, as `ranges` and `weights`
    double *weights;       ///< [ranks] what each rank shall have, in any unit; NULL: ranks are equal
};

/// How a rule spreads an area where ranks have unequal weights.
enum placement_spread {
    spread_never,    ///< the rule knows equal ranks only; weights are refused
    spread_over_all, ///< every area on all ranks
    spread_in_order  ///< the areas on the ranks in their order
};

/// A placement by name.
struct placement_rule {
    const char *name;    ///< as in a run description
    const char *summary; ///< one line for --list
    /// Fills in origin, first_rank and ranks of ranges[population], one for each population. Fails where the
    /// rule cannot work on so many ranks. NULL where a file says it.
    bool (*place)(const struct network *network, int ranks, struct range *ranges, struct error *error);
    /// Makes the ranges of `placement` as a placement file says, in ascending order. NULL for all other
    /// rules.
    bool (*read_file)(struct placement *placement, const json_t *file, struct error *error);
    /// Which ranks hold each area where ranks have unequal weights, in proportion to which they share its
    /// neurons. Two areas share all ranks or none.
    enum placement_spread spread;
};

/// What weights of ranks add, where the core is linked with them (variants/description/unequal.c).
struct rank_weights_hooks {
    /// Reads weights [ranks] into the placement, which frees them. Fails with one line that begins with
    /// `field` for a list of other than one positive number for each rank.
    bool (*read)(struct placement *placement, const json_t *given, const char *field, struct error *error);
    bool (*unequal)(const struct placement *placement); ///< whether any two ranks have different weights
    /// Deals every area over the ranks that the rule gives it, in proportion to their weights.
    void (*place)(struct placement *placement);
};

extern const struct rank_weights_hooks *const rank_weights_hooks; ///< NULL without variants

/// The names of the rules of the core, each of which is placement_NAME.
#define CORE_PLACEMENTS(P) P(round_robin) P(area) P(area_group)
/// What such a list makes of each name: its declaration, and its entry in the table.
#define PLACEMENT_DECLARE(name) extern const struct placement_rule placement_##name;
#define PLACEMENT_ADDRESS(name) &placement_##name,

extern const struct placement_rule *const placement_rules[]; ///< all, ended by NULL

/// Neurons of one range that one thread owns: first, first + stride, ...
struct share {
    uint32_t first;  ///< id of the first neuron
    uint32_t stride; ///< from one id to the next, at least 1
    uint32_t count;  ///< neurons; may be 0
};

/// Returns the rule of that name; NULL where there is none.
static inline const struct placement_rule *placement_find(const char *name) {
    return registry_find(placement_rules, name);
}

/// Opens a placement. `file` is the content of the placement file, for a rule that has read_file; `weights`
/// is a list with a number for each rank, or NULL where the ranks are equal. Neither is needed afterwards.
/// Close the placement also after a failure.
bool placement_open(struct placement *placement, const struct placement_rule *rule,
                    const struct network *network, int ranks, int threads, const json_t *file,
                    const json_t *weights, struct error *error);
/// Frees what the placement owns. One that was set to zero may be closed, too.
void placement_close(struct placement *placement);

/// Returns the neurons of range number `range` that a thread owns.
struct share placement_share(const struct placement *placement, uint32_t range, int rank, int thread);

/// Returns the number of ranges.
static inline uint32_t placement_ranges(const struct placement *placement) {
    return placement->first_range[placement->network->n_populations];
}

/// Returns the rank that owns neuron `gid` of a range.
static inline int range_rank(const struct range *range, uint32_t gid) {
    return range->first_rank + (int)((gid - range->origin) % (uint32_t)range->ranks);
}

/// Returns the thread that owns it there, of `threads`.
static inline int range_thread(const struct range *range, int threads, uint32_t gid) {
    const uint32_t ranks = (uint32_t)range->ranks, units = ranks * (uint32_t)threads;
    return (int)((gid - range->origin) % units / ranks);
}

/// Returns the number of neurons of one population on a rank.
uint32_t placement_count(const struct placement *placement, uint32_t population, int rank);

/// Fills in how many neurons each rank has, [ranks].
void placement_neurons(const struct placement *placement, uint32_t *neurons);

/// Returns the largest load of a rank over what it shall have: its share of all neurons, by its weight.
double placement_balance(const struct placement *placement);

/// Returns the neurons of each area, [n_areas]; the caller frees it.
uint64_t *placement_area_sizes(const struct network *network);

/// Returns the id of the first neuron of the area that `population` belongs to.
uint32_t placement_area_origin(const struct network *network, uint32_t population);
