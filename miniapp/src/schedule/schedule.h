/// \file
/// The schedule as it will run: which lanes there are, and whether they are exact.
///
/// A lane collects the spikes of P cycles (a window), exchanges them, and delivers them before window w + 1 +
/// L begins. That is exact if and only if no synapse of the lane has a delay shorter than P (L + 1) d_min.
/// All lanes are checked for it here, before anything is built.

#ifndef SCHEDULE_SCHEDULE_H
#define SCHEDULE_SCHEDULE_H

#include "schedule/grouping.h"
#include "schedule/lane_rules.h"
#include "transport/exchange.h"
#include "transport/wire.h"

/// A lane as it will run.
struct lane_plan {
    const char *name;
    int group;               ///< of its rule, group_square resolved
    struct lane_areas areas; ///< between which it carries synapses; if bound, `group` is group_world
    struct grouping groups;  ///< ranks that exchange with each other
    uint32_t period;         ///< P, cycles
    uint32_t lag;            ///< L, windows
    uint32_t shortest_delay; ///< steps, from the distributions' limits; 0: the lane has no synapses
    uint64_t n_synapses;     ///< exact unless a projection is divided between lanes: then an expectation
    struct exchange_spec exchange;       ///< where a group has several ranks; a rank alone uses `self`
    const char *order_file, *table_file; ///< of exchange.levels, as given; borrowed from the description
    const struct wire_format *wire;
};

struct schedule {
    struct schedule_rule rule;
    struct lane_plan lanes[schedule_lanes_max];
    int n_lanes;
    struct span *areas; ///< [n_areas] between which each area lies
    uint32_t n_areas;
};

/// Finds the placement that the description names, or else the one that its schedule implies.
bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error);

/// Plans the lanes and checks them, and resolves a delay ratio of "auto". Close the schedule also after a
/// failure.
bool schedule_plan(struct schedule *schedule, struct description *description,
                   const struct placement *placement, struct error *error);
void schedule_close(struct schedule *schedule);

/// Returns the lane of the synapses from one area to another. It is -1 if there is none, which the plan
/// allows only where the network has no such synapses.
int schedule_lane(const struct schedule *schedule, uint32_t source_area, uint32_t target_area);

/// Returns the lane of all synapses of a projection, or -1 if several lanes share them.
int schedule_projection_lane(const struct schedule *schedule, const struct network *network,
                             const struct projection *projection);

/// Says whether the window of any lane follows D.
bool schedule_uses_delay_ratio(const struct schedule *schedule);

/// Returns how many ranks exchange with `rank` in the lane, itself included.
static inline int lane_ranks(const struct lane_plan *lane, int rank) {
    return lane->groups.size[rank];
}

#endif
