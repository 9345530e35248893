/// \file
/// Schedules as they are asked for: by name, or as a list of lanes in the run description.
///
/// A schedule is data: a list of lanes from narrow to wide. Each lane connects groups of ranks, or given
/// areas. A synapse belongs to the first lane in whose groups or areas it lies.

#pragma once

#include "description/description.h"
#include "description/placement.h"
#include "transport/exchange.h"

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

extern const struct schedule_rule *const schedule_rules[];

/// Reads what the description asks for.
bool lane_rules_read(struct schedule_rule *rule, const struct description *description, struct error *error);

// -------------------- grouping

/// The areas between which a lane carries synapses: its fields `from` and `to`.
struct lane_areas {
    bool *from, *to; ///< [areas] whether synapses from, or to, an area belong to it; NULL: all do
};

/// Consecutive ranks, from the lowest to the highest that hold an area. Others may lie between them.
struct span {
    int first, last;
};

struct grouping {
    int ranks;
    int *first; ///< [ranks] first rank of each rank's group, which names the group
    int *place; ///< [ranks] the rank's number within it
    int *size;  ///< [ranks] ranks in it
    int largest, groups;
};

// -------------------- schedule
// The schedule as it will run: which lanes there are, and whether they are exact.
//
// A lane collects the spikes of P cycles (a window), exchanges them, and delivers them before window w + 1 +
// L begins. That is exact if and only if no synapse of the lane has a delay shorter than P (L + 1) d_min.
// All lanes are checked for it here, before anything is built.

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

/// Returns how many ranks exchange with `rank` in the lane, itself included.
static inline int lane_ranks(const struct lane_plan *lane, int rank) {
    return lane->groups.size[rank];
}

/// Returns a planned lane as a new object: how it stands in record.json and in what --explain prints.
json_t *lane_json(const struct lane_plan *lane, const struct description *description);

/// Returns the largest number of levels that an exchange of any lane has; 0 if none is composed.
int lane_levels_most(const struct schedule *schedule);

/// Finds, before any of them is drawn and for a rank that has own[population] neurons, the synapses that it
/// has in each lane, and the logarithm of the probability that none of them comes from a certain neuron of a
/// population. A Poisson number of draws with mean K all miss a neuron with probability exp(-K hit), where a
/// draw hits it with probability `hit`. \param synapses [lanes] are added to. \param log_missed
/// [lanes][populations] is added to; 0: there is no such synapse.
void lane_sources_expect(const struct schedule *schedule, const struct network *network, const double *own,
                         double *synapses, double *log_missed);
