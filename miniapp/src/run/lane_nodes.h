/// \file
/// Checks that exchanges which need shared memory are not asked for between nodes.

#ifndef RUN_LANE_NODES_H
#define RUN_LANE_NODES_H

#include "schedule/schedule.h"

/// Refuses the exchange of a lane, or one of its parts, that needs shared memory between ranks of several
/// nodes. Collective over `comm`, the ranks that exchange. Only some of them may find the error.
void lane_check_nodes(const struct lane_plan *plan, MPI_Comm comm, struct error *error);

#endif
