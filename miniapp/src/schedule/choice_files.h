/// \file
/// Reads the files that the choice of a composed exchange names.

#ifndef SCHEDULE_CHOICE_FILES_H
#define SCHEDULE_CHOICE_FILES_H

#include "schedule/schedule.h"

/// These read the order of ranks, and then the table of bridges, if there are any, into
/// lane->exchange.levels, which have their dimensions. `files` holds the content of files by their name.
bool choice_order(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                  struct error *error);
bool choice_table(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                  struct error *error);

#endif
