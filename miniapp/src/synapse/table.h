/// \file
/// The synapses of one lane on one thread, sorted by source, and their delivery.
///
/// All synapses of a source make up one list. A spike names its list, so delivery reads the start of one list
/// and then runs through memory. A synapse is one 32-bit word with its weight class above and its place
/// below, where place = delay x neurons + target. The input then belongs at (place + row of the spike's step)
/// modulo the size of the ring: one addition and one comparison per synapse. Without classes a synapse is two
/// words, its place and its own weight; the input is then never narrow.

#ifndef SYNAPSE_TABLE_H
#define SYNAPSE_TABLE_H

#include "base/error.h"
#include "base/ring.h"
#include "base/spike.h"
#include <stddef.h>

/// Says how the synapses of a thread are packed, and what their weight classes weigh.
struct synapse_format {
    uint32_t neurons; ///< of the thread
    unsigned place_bits;
    uint32_t classes;       ///< 0: every synapse holds its own weight
    const int32_t *weights; ///< [classes] in units; borrowed
};

static inline size_t synapse_bytes(const struct synapse_format *format) {
    return format->classes == 0 ? 8 : 4;
}

/// Finds the format for a thread of `neurons` neurons with delays up to `longest_delay` steps. Fails if place
/// and class do not fit in 32 bits.
bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error);

static inline uint32_t synapse_pack(const struct synapse_format *format, uint32_t target, uint32_t delay,
                                    uint32_t weight_class) {
    return (weight_class << format->place_bits) | (delay * format->neurons + target);
}

struct synapse_table {
    struct synapse_format format;
    uint32_t lists;
    uint32_t *start;    ///< [lists + 1] list l is synapses[start[l]] up to synapses[start[l + 1]]
    uint32_t *synapses; ///< packed; without classes followed each by its weight
};

/// A table is made in two passes over the same synapses. The first calls synapse_table_add_count() for each
/// list, the second synapse_table_put() for each synapse. Between them comes synapse_table_allocate(), which
/// fails beyond 2^32 - 1 synapses. Within a list, synapses end up in reverse order.
void synapse_table_open(struct synapse_table *table, struct synapse_format format, uint32_t lists);
bool synapse_table_allocate(struct synapse_table *table, struct error *error);
void synapse_table_close(struct synapse_table *table);

// While counting, start[l] is the size of list l. While putting, it is the place of the synapse of the list
// that was put last. It is counted down from the end of the list, and so ends at its start.

static inline void synapse_table_add_count(struct synapse_table *table, uint32_t list, uint32_t count) {
    table->start[list] += count;
}

static inline void synapse_table_put(struct synapse_table *table, uint32_t list, uint32_t packed) {
    table->synapses[--table->start[list]] = packed;
}

/// Puts a synapse of a table without classes, with its own weight.
static inline void synapse_table_put_own(struct synapse_table *table, uint32_t list, uint32_t packed,
                                         int32_t weight) {
    uint32_t *synapse = table->synapses + 2 * (size_t)--table->start[list];
    synapse[0] = packed;
    synapse[1] = (uint32_t)weight;
}

static inline uint32_t synapse_table_size(const struct synapse_table *table) {
    return table->start[table->lists];
}

struct delivered {
    uint64_t synaptic_events; ///< synapses visited
    uint64_t first_accesses;  ///< lists entered that hold a synapse
};

/// Adds to the ring what the `n` spikes in `words` cause. `window` is the first step of their window. The
/// next row of the ring to be read must belong to a later step than any of the spikes. Without classes the
/// ring must not be narrow.
struct delivered synapse_table_deliver(const struct synapse_table *table, const uint32_t *words, size_t n,
                                       struct spike_format spikes, uint32_t window, struct ring *ring);

#endif
