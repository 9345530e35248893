/// \file
/// Chooses the fixed-point numbers in which input is summed.

#ifndef DESCRIPTION_FIXED_POINT_H
#define DESCRIPTION_FIXED_POINT_H

#include "description/network.h"

/// Chooses network.weight_unit and whether input is narrow, so that the input of no neuron can overflow, even
/// if all its sources fire in one step and its input from outside is at its largest. Then expresses all
/// weights in that unit. Fails where a weight is too small for it. `fields` is the object "network".
bool fixed_point_choose(struct network *network, const struct fields *fields, struct error *error);

#endif
