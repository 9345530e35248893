/// \file
/// The table of placements without variants; with them it is variants/description/placements.c.

#include "description/placement.h"

CORE_PLACEMENTS(PLACEMENT_DECLARE)
const struct placement_rule *const placement_rules[] = {CORE_PLACEMENTS(PLACEMENT_ADDRESS) NULL};
