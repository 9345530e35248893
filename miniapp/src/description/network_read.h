/// \file
/// Reads the object "network" of a run description: populations and projections.

#pragma once

#include "description/field_table.h"
#include "description/network.h"

extern const struct field_table table_of_network, table_of_population, table_of_external, table_of_projection;

/// Reads the object "network" of `run`. The strings and JSON of `run` must outlive the network. Fails naming
/// the field. Close the network also after a failure.
bool network_open(struct network *network, const struct fields *run, uint64_t seed, double resolution_ms,
                  struct error *error);

/// Frees all that the network owns.
void network_close(struct network *network);
