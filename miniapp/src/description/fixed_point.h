/// \file
/// The unit of the weights: input is summed in whole numbers of it.
///
/// Every weight becomes a whole number of units, such that no sum of inputs can overflow, even if all sources
/// of a neuron fire in one step. Delivery then adds integers, and sums of integers do not depend on the order
/// in which spikes arrive, nor on how they are split over ranks and threads. Sums of floating-point numbers
/// would. Where all weights are small multiples of a common unit, 16 bits are enough, which halves the ring
/// buffer.

#pragma once

#include "description/network.h"

/// Chooses network.weight_unit and whether input is narrow, so that the input of no neuron can overflow, even
/// if all its sources fire in one step and its input from outside is at its largest. Then expresses all
/// weights in that unit. Fails where a weight is too small for it. `fields` is the object "network".
bool fixed_point_choose(struct network *network, const struct fields *fields, struct error *error);
