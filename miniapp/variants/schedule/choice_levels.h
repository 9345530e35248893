/// \file
/// Reads of what a lane's composed exchange is composed, as the description has it.

#pragma once

#include "schedule/schedule.h"

/// Fills in lane->exchange.levels for its back-end, which is a composed one, from the fields of `choice` and
/// `files`, {name: content}, that it names. An exchange that is only named has no fields. Fails naming the
/// field, and the lane or what would do.
bool choice_levels(struct lane_plan *lane, const struct fields *choice, const json_t *files,
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
