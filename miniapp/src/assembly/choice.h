/// \file
/// The exchange and the wire format that the description chooses for each lane.

#ifndef ASSEMBLY_CHOICE_H
#define ASSEMBLY_CHOICE_H

#include "assembly/schedule.h"

/// Fills in lane->exchange and lane->wire; fails naming the lane and what would do.
bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error);

/// Refuses choices for lanes that the schedule does not have.
bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                        struct error *error);

#endif
