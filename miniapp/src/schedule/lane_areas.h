/// \file
/// The areas that a lane of the run description connects: its fields `from` and `to`.

#ifndef SCHEDULE_LANE_AREAS_H
#define SCHEDULE_LANE_AREAS_H

#include "description/network.h"

/// The areas between which a lane carries synapses.
struct lane_areas {
    bool *from, *to; ///< [areas] whether synapses from, or to, an area belong to it; NULL: all do
};

/// Reads both fields. Fails naming the field, the area that does not exist or is named twice, and the areas
/// there are. Close the areas also after a failure.
bool lane_areas_read(struct lane_areas *areas, const struct fields *lane, const struct network *network,
                     struct error *error);

void lane_areas_close(struct lane_areas *areas);

/// Says whether a lane is bound to areas at all: one of the fields is given.
static inline bool lane_areas_bound(const struct lane_areas *areas) {
    return areas->from || areas->to;
}

/// Says whether the lane may carry synapses from one area to another.
static inline bool lane_areas_carry(const struct lane_areas *areas, uint32_t source, uint32_t target) {
    return (!areas->from || areas->from[source]) && (!areas->to || areas->to[target]);
}

/// Says whether the ranks that hold the area take part in the lane.
static inline bool lane_areas_hold(const struct lane_areas *areas, uint32_t area) {
    return !areas->from || areas->from[area] || !areas->to || areas->to[area];
}

#endif
