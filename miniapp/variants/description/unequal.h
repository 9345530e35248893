/// \file
/// Placements of ranges of neurons, as a placement file or weights of ranks give them. Weights say what each
/// rank of an unequal machine shall have, in any unit.

#pragma once

#include "description/placement.h"

/// Consecutive ranks that hold an area.
struct area_ranks {
    int first; ///< the lowest
    int ranks; ///< how many
};

/// The neurons first ... end - 1, on `rank`; where `over` is above 1, neuron k is dealt to
/// rank + (k - origin) mod over instead, and origin is 0 ... first.
struct placed_range {
    uint32_t first, end; ///< ids, from the first to one beyond the last
    uint32_t origin;     ///< id from which the dealing counts
    int rank;            ///< the first, or only one
    int over;            ///< ranks over which the neurons are dealt, at least 1
};

/// Makes the ranges of a placement from `n` ranges that ascend and have every neuron once. The threads of a
/// rank take turns from one range to the next.
void placement_set_ranges(struct placement *placement, const struct placed_range *ranges, size_t n);

/// Reads weights [ranks] into the placement, which frees them. Fails with one line that begins with `field`
/// for a list of other than one positive number for each rank.
bool placement_read_weights(struct placement *placement, const json_t *given, const char *field,
                            struct error *error);

/// Says whether any two ranks have different weights.
bool placement_is_unequal(const struct placement *placement);

/// Deals every area over the ranks that the rule gives it, in proportion to their weights.
void placement_share_by_weights(struct placement *placement);

/// What rules do for unequal ranks (struct placement_rule): spread every area over all ranks, or lay the
/// areas on the ranks in their order.
void placement_spread_all(const struct network *network, int ranks, const double *weights,
                          struct area_ranks *spans);
void placement_spread_in_order(const struct network *network, int ranks, const double *weights,
                               struct area_ranks *spans);
