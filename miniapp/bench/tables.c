#include "tables.h"

#include "base/alloc.h"
#include <string.h>

struct synapse_table table_of_lists(struct synapse_format format, uint32_t lists, const uint32_t *start,
                                    uint32_t *packed) {
    const size_t words = synapse_words(&format);
    struct synapse_table table = {.format = format, .synapses = packed};
    table.index = synapse_index(lists, start[lists] - start[0], 32 - format.used_bits);
    const unsigned bits = table.index.block_bits;
    table.start = ALLOC(uint32_t, (size_t)table.index.blocks + 1);
    for (uint32_t b = 0; b < table.index.blocks; b++) table.start[b] = start[(size_t)b << bits];
    table.start[table.index.blocks] = start[lists];
    if (table.index.filter_words > 0) table.filter = ALLOC_ZERO(uint64_t, table.index.filter_words);
    for (uint32_t l = 0; l < lists && table.filter; l++) {
        const uint32_t bit = l >> table.index.filter_bits;
        if (start[l + 1] > start[l]) table.filter[bit / 64] |= (uint64_t)1 << bit % 64;
    }
    if (bits == 0) return table;
    table.synapses = ALLOC(uint32_t, words * start[lists] + search_words);
    memcpy(table.synapses, packed, words * start[lists] * sizeof *packed);
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t i = start[l]; i < start[l + 1]; i++)
            table.synapses[words * i] |= (l & (((uint32_t)1 << bits) - 1)) << format.used_bits;
    return table;
}
