/// \file
/// Which exchange and wire format a lane gets: what the description chooses, or what would do.

#pragma once

#include "description/description.h"
#include "schedule/lane_plan.h"

/// Fills in lane->exchange and lane->wire. Where the description has no exchange at all and the lane has a
/// lag, it takes one that overlaps. Fails naming the lane and what would do.
bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error);

/// Fills in the description where it leaves the choice to us, once all lanes have been chosen for.
void choice_fill_in(struct description *description, const struct schedule *schedule);

/// Refuses choices for lanes that the schedule does not have.
bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                        struct error *error);

/// Writes a value of the description, shortened. \return `text`.
const char *choice_shown(const json_t *value, char text[80]);

/// Says whether a back-end can serve a lane whose largest group has `ranks` ranks, and with `part` set as
/// part of a composed one.
bool choice_serves(const struct exchange_backend *backend, int ranks, bool part);

/// Refuses what is asked for in `role` ("", or "inner " and the like of a part), and names the back-ends that
/// would do.
bool choice_refuse(const json_t *value, const struct exchange_backend *asked, const char *role,
                   const struct lane_plan *lane, int ranks, struct error *error);
