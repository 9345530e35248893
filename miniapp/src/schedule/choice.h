/// \file
/// The exchange and the wire format that the description chooses for each lane.

#ifndef SCHEDULE_CHOICE_H
#define SCHEDULE_CHOICE_H

#include "schedule/schedule.h"

/// Fills in lane->exchange and lane->wire; where the description has none at all, an exchange that overlaps
/// if the lane has a lag. Fails naming the lane and what would do.
bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error);

/// Fills in what the description leaves to us, once all lanes have been chosen for.
void choice_fill_in(struct description *description, const struct schedule *schedule);

/// Refuses choices for lanes that the schedule does not have.
bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                        struct error *error);

#endif
