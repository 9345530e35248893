/// \file
/// Opens, numbers and closes the set of sources of a rank in a lane.
///
/// Cost of numbering: one look at the placement for each list. Memory: 2 bytes for each list, 16 for each
/// bucket of ids, 4 for each rank of the lane.

#include "transport/source_table.h"

#include "base/alloc.h"
#include <stdlib.h>

void source_table_open(struct source_table *table, const struct placement *placement, const int *place,
                       int ranks, unsigned bits) {
    *table = (struct source_table){.placement = placement, .place = place};
    table->per_owner = ALLOC_ZERO(uint32_t, (size_t)ranks);
    id_set_open(&table->sources, placement->network->n_neurons, bits);
}

void source_table_close(struct source_table *table) {
    id_set_close(&table->sources);
    free(table->per_owner);
    table->per_owner = NULL;
}

void source_table_number(struct source_table *table) {
    table->lists = id_set_number(&table->sources);
    struct source_cursor cursor = source_cursor_at(table, 0);
    for (uint64_t list = 0; list < table->lists; list++) {
        int owner;
        source_cursor_next(&cursor, &owner);
        table->per_owner[owner]++;
    }
}
