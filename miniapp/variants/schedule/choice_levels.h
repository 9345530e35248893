/// \file
/// Reads of what a lane's composed exchange is composed, as the description has it.

#pragma once

#include "description/field_table.h"
#include "schedule/lane_plan.h"

/// The fields of the two composed exchanges; "two_level" and "multi_level" stand for the lane in their paths.
extern const struct field_table table_of_two_level, table_of_multi_level;

/// `choose` of struct levels_hooks (transport/levels.h).
bool choice_levels(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                   struct error *error);
