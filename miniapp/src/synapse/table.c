/// \file
/// The memory of a table, and its end; sort.c makes tables.

#include "synapse/table.h"

#include "base/alloc.h"

uint64_t synapse_table_bytes(const struct synapse_table *table) {
    const struct synapse_index *index = &table->index;
    const uint64_t filter = index->filter_words * sizeof(uint64_t);
    // With starts: one for each list, and the synapses.
    if (!table->group)
        return filter + (index->lists + (uint64_t)1) * sizeof(uint32_t) +
               table->size * (uint64_t)synapse_bytes(&table->format);
    // With lines: the groups, whole lines, and further words.
    return filter + index->groups * sizeof(struct line_group) +
           (line_words * (uint64_t)table->lines + table->further_words) * sizeof(uint32_t);
}

void synapse_table_close(struct synapse_table *table) {
    FREE(table->start, table->filter, table->group, table->further, table->synapses);
}
