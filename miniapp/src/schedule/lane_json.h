/// \file
/// A planned lane as JSON: how it stands in record.json and in what --explain prints.

#pragma once

#include "description/description.h"
#include "schedule/lane_plan.h"

/// Returns a planned lane as a new object, which the caller owns (miniapp/FORMAT.md: `lanes`).
json_t *lane_json(const struct lane_plan *lane, const struct description *description);
