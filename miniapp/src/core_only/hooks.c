/// \file
/// What the core lacks without variants: composed exchanges, unequal ranks, dry runs. With them, these hooks
/// are theirs.

#include "description/placement.h"
#include "run/dry.h"
#include "transport/levels.h"
#include <stddef.h>

const struct levels_hooks *const levels_hooks = NULL;
const struct rank_weights_hooks *const rank_weights_hooks = NULL;
const struct dry_hooks *const dry_hooks = NULL;
