/// \file
/// Reads the files that the choice of a composed exchange names.

#ifndef SCHEDULE_CHOICE_FILES_H
#define SCHEDULE_CHOICE_FILES_H

#include "schedule/schedule.h"

/// Reads the order of ranks, if there is one, into lane->exchange.levels. `files` holds the content of files
/// by their name.
bool choice_order(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                  struct error *error);

#endif
