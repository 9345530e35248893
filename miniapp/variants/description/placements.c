/// \file
/// The table of placements: those of the core (description/placement.h), then those of the variants.

#include "description/placement.h"

/// The names of the rules of the variants, each of which is placement_NAME.
#define VARIANT_PLACEMENTS(P) P(from_file)

CORE_PLACEMENTS(PLACEMENT_DECLARE)
VARIANT_PLACEMENTS(PLACEMENT_DECLARE)
const struct placement_rule *const placement_rules[] = {CORE_PLACEMENTS(PLACEMENT_ADDRESS)
                                                            VARIANT_PLACEMENTS(PLACEMENT_ADDRESS) NULL};
