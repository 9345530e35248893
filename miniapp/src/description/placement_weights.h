/// \file
/// Weights of ranks: what each rank of an unequal machine shall have, in any unit.

#ifndef DESCRIPTION_PLACEMENT_WEIGHTS_H
#define DESCRIPTION_PLACEMENT_WEIGHTS_H

#include "description/placement.h"

/// Like placement_open, for ranks with `weights`, a list with a number for each. NULL: the ranks are equal.
bool placement_open_unequal(struct placement *placement, const struct placement_rule *rule,
                            const struct network *network, int ranks, int threads, const json_t *file,
                            const json_t *weights, struct error *error);

/// Reads weights [ranks] into the placement, which frees them. Fails with one line that begins with `field`
/// for a list of other than one positive number for each rank.
bool placement_read_weights(struct placement *placement, const json_t *given, const char *field,
                            struct error *error);

/// Says whether any two ranks have different weights.
bool placement_is_unequal(const struct placement *placement);

/// Deals every area over the ranks that the rule gives it, in proportion to their weights.
void placement_deal_weights(struct placement *placement);

#endif
