/// \file
/// A planned lane as JSON: how it stands in record.json and in what --explain prints.

#ifndef SCHEDULE_LANE_JSON_H
#define SCHEDULE_LANE_JSON_H

#include "schedule/schedule.h"

/// By how much the shortest delay of the lane exceeds what is needed, P (L + 1) d_min, in ms and rounded to
/// 1e-9; NAN where the lane has no synapses.
double lane_slack_ms(const struct lane_plan *lane, const struct description *description);

/// Whether the lane has a lag and an exchange that does all its work at the end of it, so that nothing
/// overlaps.
bool lane_blocks(const struct lane_plan *lane);

/// A new object: name, period, lag, exchange, composed, wire, ranks, groups, slack, shortest_delay_ms.
json_t *lane_json(const struct lane_plan *lane, const struct description *description);

#endif
