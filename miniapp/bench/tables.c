#include "tables.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/// Opens a set of all ids below `n`, numbered.
static struct id_set all_below(uint32_t n, unsigned bits) {
    struct id_set set;
    id_set_open(&set, n, bits);
    uint64_t *present = ALLOC(uint64_t, (((size_t)1 << bits) + 63) / 64);
    for (uint32_t k = 0; k < set.buckets; k++) {
        memset(present, 0, (((size_t)1 << bits) + 63) / 64 * sizeof *present);
        for (uint64_t i = 0, id = (uint64_t)k << bits; i < (uint64_t)1 << bits && id + i < n; i++)
            present[i / 64] |= (uint64_t)1 << i % 64;
        id_set_fill(&set, k, present);
    }
    free(present);
    id_set_number(&set);
    return set;
}

struct synapse_table table_with_starts(struct synapse_format format, uint32_t lists, const uint32_t *start,
                                       uint32_t *packed) {
    struct synapse_table table = {.format = format, .synapses = packed, .size = start[lists] - start[0]};
    table.index = (struct synapse_index){.lists = lists};
    table.start = ALLOC(uint32_t, (size_t)lists + 1);
    memcpy(table.start, start, ((size_t)lists + 1) * sizeof *start);
    return table;
}

struct synapse_table table_of_lists(struct synapse_format format, uint32_t lists, const uint32_t *start,
                                    uint32_t *packed) {
    const size_t words = synapse_words(&format);
    struct synapse_table table = {.format = format, .synapses = packed, .size = start[lists] - start[0]};
    table.index = synapse_index(&format, lists, table.size);
    if (table.index.most_lists == 0 && table.index.filter_words == 0)
        return table_with_starts(format, lists, start, packed);
    struct buckets buckets;
    const unsigned bits = buckets_source_bits(&format, lists);
    buckets_open(&buckets, format, bits, lists);
    for (uint32_t l = 0; l < lists; l++) buckets.end[l >> bits] += start[l + 1] - start[l];
    buckets_allocate(&buckets);
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t i = start[l]; i < start[l + 1]; i++)
            if (words == 1)
                buckets_put(&buckets, l, packed[i]);
            else
                buckets_put_own(&buckets, l, packed[2 * (size_t)i], (int32_t)packed[2 * (size_t)i + 1]);
    struct id_set sources = all_below(lists, id_set_bits(lists, bits, 1));
    synapse_table_open(&table, &buckets, &sources);
    id_set_close(&sources);
    return table;
}
