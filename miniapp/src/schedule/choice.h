/// \file
/// Chooses the exchange and the wire format of each lane, as the description has it.

#ifndef SCHEDULE_CHOICE_H
#define SCHEDULE_CHOICE_H

#include "schedule/schedule.h"

/// Fills in lane->exchange and lane->wire. Where the description has no exchange at all and the lane has a
/// lag, it takes one that overlaps. Fails naming the lane and what would do.
bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error);

/// Fills in the description where it leaves the choice to us, once all lanes have been chosen for.
void choice_fill_in(struct description *description, const struct schedule *schedule);

/// Refuses choices for lanes that the schedule does not have.
bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                        struct error *error);

#endif
