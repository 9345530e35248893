/// \file
/// Estimates what the routes of a lane take, with the tables of bridges where spikes are merged.

#ifndef APP_ESTIMATE_ROUTES_H
#define APP_ESTIMATE_ROUTES_H

#include "schedule/schedule.h"

/// Returns the bytes of the routes of a lane on one of `ranks` ranks that exchange, as lane_route_bytes()
/// finds them afterwards. The rank is expected to have lists of `lists` out of `sources` neurons, and so is
/// every other one. With merging, all neurons are taken to be needed there equally probably.
double estimate_routes(const struct lane_plan *lane, int ranks, double lists, double sources);

#endif
