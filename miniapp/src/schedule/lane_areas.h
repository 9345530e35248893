/// \file
/// The areas between which a lane of a list carries synapses: its fields `from` and `to`.

#pragma once

#include "description/network.h"
#include <stdbool.h>

/// Reads the field `from` or `to`: an area or a list. \param areas [n_areas] filled in, owned by the caller;
/// stays NULL where the field is not there, which stands for all areas. Fails for a name that no area has,
/// and for one that is there twice.
bool lane_areas_read(bool **areas, const struct fields *lane, const char *field,
                     const struct network *network, struct error *error);
