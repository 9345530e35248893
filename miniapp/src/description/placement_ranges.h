/// \file
/// Ranges of neurons that a placement deals, as a placement file or weights of ranks give them.

#ifndef DESCRIPTION_PLACEMENT_RANGES_H
#define DESCRIPTION_PLACEMENT_RANGES_H

#include "description/placement.h"

/// The neurons first ... end - 1, on `rank`; where `over` is above 1, neuron k is dealt to
/// rank + (k - origin) mod over instead, and origin is 0 ... first.
struct range {
    uint32_t first, end, origin;
    int rank, over;
};

/// Makes the deals of a placement from `n` ranges that ascend and have every neuron once. The threads of a
/// rank take turns from one range to the next.
void placement_deal_ranges(struct placement *placement, const struct range *ranges, size_t n);

#endif
