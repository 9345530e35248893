/// \file
/// The schedule as it will run: which lanes there are, and whether they are exact.
///
/// A lane collects the spikes of P cycles (a window), exchanges them, and delivers them before window w +
/// 1 + L begins. That is exact if and only if no synapse of the lane has a delay shorter than P (L + 1)
/// d_min. All lanes are checked for it here, before anything is built.
///
/// Example: cycles of 0.1 ms, near synapses from 0.1 ms on, far ones from 1 ms on. The near lane has P = 1.
/// The far lane may have P = 10 without a lag, or P = 5 with a lag of 1, for both of which P (L + 1) = 10.
/// `auto` finds such a D from the delays.

#pragma once

#include "description/description.h"
#include "description/field_table.h"
#include "description/placement.h"
#include "schedule/lane_plan.h"

extern const struct schedule_rule *const schedule_rules[]; ///< all, ended by NULL
extern const struct field_table table_of_lane;             ///< the fields of a lane of a list

/// Reads what the description asks for: a schedule by name, or a list of lanes. Fails naming the field.
bool lane_rules_read(struct schedule_rule *rule, const struct description *description, struct error *error);

/// Finds the placement that the description names, or else the one that its schedule implies, and fills that
/// in. Fails where it is unknown, or what the description says with it does not fit it.
bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error);

/// Plans the lanes and checks them, and resolves a delay ratio of "auto", in the description as well. Fails,
/// naming the field, for lanes that are not exact. Close the schedule also after a failure.
bool schedule_plan(struct schedule *schedule, struct description *description,
                   const struct placement *placement, struct error *error);
/// Frees what the plan owns.
void schedule_close(struct schedule *schedule);

/// Returns the lane of the synapses from one area to another. It is -1 if there is none, which the plan
/// allows only where the network has no such synapses.
int schedule_lane(const struct schedule *schedule, uint32_t source_area, uint32_t target_area);

/// Returns the lane of all synapses of a projection, or -1 if several lanes share them.
int schedule_projection_lane(const struct schedule *schedule, const struct network *network,
                             const struct projection *projection);

/// Returns the largest number of levels that an exchange of any lane has; 0 if none is composed.
int lane_levels_most(const struct schedule *schedule);
