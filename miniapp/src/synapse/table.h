/// \file
/// The synapses of one lane on one thread, sorted by the list they belong to, and their delivery.
///
/// All synapses of a source make up one list, and a spike names its list. Lists are numbered for a whole
/// rank, so that most of them may be empty on one of many threads. Where lists hold five synapses or more on
/// the mean, a table has a start for every list. Below, it has a cache line for every few neighbouring lists,
/// as many as fill it on the mean, and the synapses of a line name their list (synapse/line.h). How many
/// lists share a line is the same for the 2^group_bits lists of a group. Where lists hold less than a synapse
/// on the mean, a filter of one bit for each list (or for some neighbouring ones) says which spikes need not
/// be looked up. Lines and filter take at most 1.5 bytes per synapse on top of it where a word has bits to
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
#include "synapse/line.h"

/// The index with which a table finds its lists. It depends only on the numbers of lists and synapses.
struct synapse_index {
    uint32_t lists;
    uint32_t most_lists; ///< of a line; 0: no lines, but a start for every list
    uint32_t fill;       ///< words of a line, on the mean, if they all could be had there
    unsigned group_bits; ///< a group has 2^group_bits lists, the last one fewer
    uint32_t groups;
    unsigned filter_bits;  ///< a bit of the filter stands for 2^filter_bits lists
    uint64_t filter_words; ///< of 64 bits; 0: no filter
};

/// Chooses the index of so many lists and synapses.
struct synapse_index synapse_index(const struct synapse_format *format, uint32_t lists, uint64_t synapses);

/// Returns the bytes that such an index takes on top of its synapses. With lines this is an expectation,
/// which takes all lists to be equally long on the mean. Differing ones take up to
/// 8 % more or less, synapses included.
double synapse_index_bytes(const struct synapse_index *index, const struct synapse_format *format,
                           uint64_t synapses);

/// Returns how many neighbouring lists share a line in a group of `lists` lists and `words` words.
uint32_t synapse_index_share(const struct synapse_index *index, uint32_t lists, double words);

struct synapse_table {
    struct synapse_format format;
    struct synapse_index index;
    uint32_t size;            ///< synapses
    uint32_t *synapses;       ///< lines; or packed, sorted by list; without classes each with its weight
    uint32_t *start;          ///< [lists + 1] list l is synapses[start[l]] up to synapses[start[l + 1]]
    struct line_group *group; ///< [groups]
    uint32_t *further;        ///< words that did not fit their line
    uint32_t lines, further_words;
    uint64_t *filter; ///< [filter_words]
};

/// Makes a table of the synapses in `buckets`, which it takes over. `sources` holds all sources of the rank
/// in this lane in buckets of equal width, and numbers them: these are the lists. Close the table also where
/// it was never opened but set to zero.
void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources);
void synapse_table_close(struct synapse_table *table);

/// Returns the bytes of a table, its synapses included.
uint64_t synapse_table_bytes(const struct synapse_table *table);

static inline uint32_t synapse_table_size(const struct synapse_table *table) {
    return table->size;
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
