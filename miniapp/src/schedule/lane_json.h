/// \file
/// A planned lane as JSON: how it stands in record.json and in what --explain prints.

#ifndef SCHEDULE_LANE_JSON_H
#define SCHEDULE_LANE_JSON_H

#include "schedule/schedule.h"

/// Returns by how much the shortest delay of the lane exceeds what it must be, P (L + 1) d_min, in ms and
/// rounded to 1e-9; NAN where the lane has no synapses.
double lane_slack_ms(const struct lane_plan *lane, const struct description *description);

/// Says whether the lane has a lag, but an exchange that does all its work at the end of it, so that nothing
/// overlaps.
bool lane_blocks(const struct lane_plan *lane);

/// Returns a new object with name, period, lag, exchange, composed, wire, ranks, groups, slack and
/// shortest_delay_ms.
json_t *lane_json(const struct lane_plan *lane, const struct description *description);

#endif
