/// \file
/// Lanes as they are asked for, by name or as a list in the run description, and as they will run.
///
/// A schedule is data: a list of lanes from narrow to wide. Each lane connects groups of ranks, or given
/// areas. A synapse belongs to the first lane in whose groups or areas it lies.

#pragma once

#include "schedule/grouping.h"
#include "transport/exchange.h"
#include "transport/wire.h"

/// Lanes of a schedule at most. Known schedules have three; a list that joins parts of a model has a lane for
/// each pair of them that is joined. Each lane costs a communicator and, on every rank, its tables.
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

/// A lane as a schedule asks for it.
struct lane_rule {
    const char *name; ///< unique in its schedule
    int group;        ///< enum lane_group, or ranks of a block
    int period;       ///< enum lane_period, or cycles
    int lag;          ///< windows, or lag_given: the description's field lag
    bool bound;       ///< to the areas of its fields `from` and `to`; in lists only
};

enum { lag_given = -1 }; ///< in place of a lag: the field `lag` of the description

/// A schedule: lanes from narrow to wide.
struct schedule_rule {
    const char *name;                           ///< as in a run description; "lanes" of a list
    const char *summary;                        ///< one line for --list
    const char *placement;                      ///< the one it implies where the description names none
    struct lane_rule lanes[schedule_lanes_max]; ///< from narrow to wide
    int n_lanes;                                ///< at least 1
};

/// The areas between which a lane carries synapses: its fields `from` and `to`.
struct lane_areas {
    bool *from, *to; ///< [areas] whether synapses from, or to, an area belong to it; NULL: all do
};

/// A lane as it will run.
struct lane_plan {
    const char *name;        ///< borrowed from its rule
    int group;               ///< of its rule, group_square resolved
    struct lane_areas areas; ///< between which it carries synapses; if bound, `group` is group_world
    struct grouping groups;  ///< ranks that exchange with each other
    uint32_t period;         ///< P, cycles
    uint32_t lag;            ///< L, windows
    uint32_t shortest_delay; ///< steps, from the distributions' limits; 0: the lane has no synapses
    uint64_t n_synapses;     ///< exact unless a projection is divided between lanes: then an expectation
    struct exchange_spec exchange;       ///< where a group has several ranks; a rank alone uses `self`
    const char *order_file, *table_file; ///< of exchange.levels, as given; borrowed from the description
    const struct wire_format *wire;      ///< of its words
};

/// The lanes of a run, and what is needed to find the lane of a synapse.
struct schedule {
    struct schedule_rule rule;                  ///< what was asked for
    struct lane_plan lanes[schedule_lanes_max]; ///< in the order of the rule
    int n_lanes;                                ///< planned so far; in the end as rule.n_lanes
    struct span *areas;                         ///< [n_areas] between which ranks each area lies; owned
    uint32_t n_areas;                           ///< of the network
};

/// Returns how many ranks exchange with `rank` in the lane, itself included.
static inline int lane_ranks(const struct lane_plan *lane, int rank) {
    return lane->groups.size[rank];
}
