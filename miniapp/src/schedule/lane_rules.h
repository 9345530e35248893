/// \file
/// Schedules as they are asked for: by name, or as a list of lanes in the run description.
///
/// A schedule is data: a list of lanes from narrow to wide. Each lane connects groups of ranks, or given
/// areas. A synapse belongs to the first lane in whose groups or areas it lies.

#ifndef SCHEDULE_LANE_RULES_H
#define SCHEDULE_LANE_RULES_H

#include "description/description.h"

enum { schedule_lanes_max = 32 };

/// Which ranks a lane connects, where these are not blocks of a number of consecutive ranks.
enum lane_group {
    group_world = 0,  ///< all
    group_area = -1,  ///< those that share an area; the lane carries what stays within an area
    group_square = -2 ///< blocks whose size is the divisor of the ranks closest to their square root
};

/// How many cycles a window lasts, where this is not a number.
enum lane_period {
    period_delay_ratio = 0, ///< D / (lag + 1)
    period_auto = -1        ///< the longest exact one
};

struct lane_rule {
    const char *name;
    int group;  ///< enum lane_group, or ranks of a block
    int period; ///< enum lane_period, or cycles
    int lag;    ///< windows, or lag_given: the description's field lag
    bool bound; ///< to the areas of its fields `from` and `to`; in lists only
};

enum { lag_given = -1 };

struct schedule_rule {
    const char *name;
    const char *summary;   ///< one line for --list
    const char *placement; ///< the one it implies where the description names none
    struct lane_rule lanes[schedule_lanes_max];
    int n_lanes;
};

/// All named schedules, ended by NULL.
extern const struct schedule_rule *const schedule_rules[];

/// Reads what the description asks for. Fails with the names there are, or with what is wrong in the list.
bool lane_rules_read(struct schedule_rule *rule, const struct description *description, struct error *error);

#endif
