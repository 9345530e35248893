/// \file
/// The synapses of one lane on one thread, sorted by the list they belong to, and their delivery.
///
/// All synapses of a source make up one list, and a spike names its list. Lists are numbered for a whole
/// rank, so that most of them may be empty on one of many threads. Where lists hold a synapse or more on the
/// mean, a table has a start for every list. Below, it has a start for every block of 2^block_bits lists, as
/// many as hold eight to sixteen synapses, and every synapse names its list within the block in the bits
/// above its place and class; a filter of one bit for each list (or for some neighbouring ones) says which
/// spikes need not be looked up. Together they take at most 1.5 bytes per synapse where a word has bits to
/// spare.
///
/// The input of a synapse belongs at (place + row of the spike's step) modulo the size of the ring: one
/// addition and one comparison. Without classes the input is never narrow.

#ifndef SYNAPSE_TABLE_H
#define SYNAPSE_TABLE_H

#include "base/id_set.h"
#include "base/ring.h"
#include "base/spike.h"
#include "synapse/buckets.h"

/// What a table needs to find its lists. It depends on their number and that of the synapses alone.
struct synapse_index {
    uint32_t lists, blocks;
    unsigned block_bits;
    unsigned filter_bits;  ///< a bit of the filter stands for 2^filter_bits lists
    uint64_t filter_words; ///< of 64 bits; 0: no filter
};

/// Chooses the index of so many lists and synapses in words with `spare_bits` bits above place and class.
struct synapse_index synapse_index(uint32_t lists, uint64_t synapses, unsigned spare_bits);

static inline uint64_t synapse_index_bytes(const struct synapse_index *index) {
    return ((uint64_t)index->blocks + 1) * sizeof(uint32_t) + index->filter_words * sizeof(uint64_t);
}

struct synapse_table {
    struct synapse_format format;
    struct synapse_index index;
    uint32_t *start;    ///< [blocks + 1] block b is synapses[start[b]] up to synapses[start[b + 1]]
    uint64_t *filter;   ///< [filter_words]
    uint32_t *synapses; ///< packed, sorted by list; without classes followed each by its weight
};

/// Makes a table of the synapses in `buckets`, which it takes over. `sources` holds all sources of the rank
/// in this lane in buckets of equal width, and numbers them: these are the lists. Close the table also where
/// it was never opened but set to zero.
void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources);
void synapse_table_close(struct synapse_table *table);

static inline uint32_t synapse_table_size(const struct synapse_table *table) {
    return table->start ? table->start[table->index.blocks] : 0;
}

struct delivered {
    uint64_t synaptic_events; ///< synapses visited
    uint64_t first_accesses;  ///< lists entered that hold a synapse
    uint64_t lookups;         ///< spikes examined
};

/// Adds to the ring what the `n` spikes in `words`, packed as `spikes` says (base/spike.h), cause. The lists
/// that they name must exist. `window` is the first step of their window. The next row of the ring to be read
/// must belong to a later step than any of the spikes. Without classes the ring must not be narrow. The table
/// is only read, so threads that have a ring each need no lock. A table without synapses examines no spikes.
struct delivered synapse_table_deliver(const struct synapse_table *table, const uint32_t *words, size_t n,
                                       struct spike_format spikes, uint32_t window, struct ring *ring);

#endif
