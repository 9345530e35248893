/// \file
/// The levels of a lane's composed exchange, as far as they are known before anything is built.

#ifndef SCHEDULE_LANE_LEVELS_H
#define SCHEDULE_LANE_LEVELS_H

#include "schedule/schedule.h"

/// To how many others the ranks of a lane may send in a level. Ranks that are alone do not count.
struct lane_connections {
    double mean;
    int most;
    double all; ///< of all ranks together: the most messages with words in a window
};

struct lane_connections lane_connections(const struct lane_plan *lane, int level);

/// Returns the largest number of levels that an exchange of any lane has; 0 if none is composed.
int lane_levels_most(const struct schedule *schedule);

/// Returns what a composed exchange is composed of as a new object, or null.
json_t *lane_levels_json(const struct lane_plan *lane);

#endif
