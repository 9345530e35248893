/// \file
/// Schedules: which lanes there are, and whether they are exact.
///
/// A lane collects the spikes of P cycles (a window), exchanges them, and delivers them before window w + 1 +
/// L begins. That is exact if and only if no synapse of the lane has a delay shorter than P (L + 1) d_min. A
/// schedule is a list of lanes; it is data. The check is made here, for all of them, before anything is
/// built.

#ifndef ASSEMBLY_SCHEDULE_H
#define ASSEMBLY_SCHEDULE_H

#include "description/description.h"
#include "description/placement.h"
#include "transport/exchange.h"

enum { schedule_lanes_max = 4 };

/// Which synapses a lane carries.
enum lane_synapses { lane_all, lane_near, lane_far };

/// A lane as a schedule lists it.
struct lane_rule {
    const char *name;
    enum lane_synapses synapses;
    bool every_d_cycles; ///< the period is D, else 1
};

struct schedule_rule {
    const char *name;
    const char *summary;   ///< one line for --list
    const char *placement; ///< the one it implies where the description names none
    struct lane_rule lanes[schedule_lanes_max];
    int n_lanes;
};

/// All schedules, ended by NULL.
extern const struct schedule_rule *const schedule_rules[];

/// A lane as it will run.
struct lane_plan {
    const char *name;
    enum lane_synapses synapses;
    uint32_t period;         ///< P, cycles
    uint32_t lag;            ///< L, windows
    uint32_t shortest_delay; ///< steps, from the distributions' limits; 0: the lane has no synapses
    uint64_t n_synapses;     ///< exact unless a projection is partly near, partly far: then an expectation
    bool within_rank;        ///< all its spikes stay on the rank that fires them
    const struct exchange_backend *backend;
};

struct schedule {
    const struct schedule_rule *rule;
    struct lane_plan lanes[schedule_lanes_max];
    int n_lanes;
};

/// The schedule of that name, or NULL.
const struct schedule_rule *schedule_find(const char *name);

/// The placement that the description names, else the one its schedule implies.
bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error);

/// Plans the lanes and checks them; resolves a delay ratio of "auto".
bool schedule_plan(struct schedule *schedule, struct description *description,
                   const struct placement *placement, struct error *error);

/// Whether a lane carries a synapse that stays within its area (`near`) or one that does not.
static inline bool lane_carries(const struct lane_plan *lane, bool near) {
    return lane->synapses == lane_all || (lane->synapses == lane_near) == near;
}

#endif
