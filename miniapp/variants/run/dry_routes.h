/// \file
/// The routes of the only rank of a dry run. In a run, the other ranks tell it which of its neurons they
/// want (transport/routes.h). Here this is found out without them.

#pragma once

#include "run/model.h"

/// Opens the routes of all lanes, and the searches of those that broadcast. `source_table` [lanes] are the
/// lists of this rank, `own_gids` the ids of its neurons in their order.
void dry_routes_open(struct model *model, const struct source_table *source_table, const uint32_t *own_gids,
                     bool exact);
