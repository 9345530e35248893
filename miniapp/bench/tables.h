/// \file
/// Synapse tables made of lists of known lengths.

#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "synapse/table.h"

/// Makes the table of `lists` lists. List l is packed[start[l]] up to packed[start[l + 1]] of synapses that
/// name no list. A table with a start for every list uses `packed` itself, another one a copy.
struct synapse_table table_of_lists(struct synapse_format format, uint32_t lists, const uint32_t *start,
                                    uint32_t *packed);

/// Makes the table with a start for every list and without a filter, however short lists are. It uses
/// `packed` itself.
struct synapse_table table_with_starts(struct synapse_format format, uint32_t lists, const uint32_t *start,
                                       uint32_t *packed);

#endif
