/// \file
/// The synapses of one lane on one thread, sorted by the list they belong to, and their delivery.
///
/// All synapses of a source make up one list, and a spike names its list. Lists are numbered for a whole
/// rank, so that most of them may be empty on one of many threads. index.h says how a list is found.
///
/// The input of a synapse belongs at (place + row of the spike's step) modulo the size of the ring: one
/// addition and one comparison. Without classes the input is never narrow.
///
/// The two forms of a table, of four lists with 2, 0, 1 and 3 synapses:
///
///     starts   start: 0 2 2 3 6     synapses: a a c d d d
///     lines    group: first line, lists of a line     line: 0:a 0:a 2:c 3:d 3:d 3:d free ...

#pragma once

#include "base/id_set.h"
#include "base/ring.h"
#include "base/spike.h"
#include "synapse/buckets.h"
#include "synapse/index.h"
#include "synapse/lines.h"

/// A table, in one of two forms. With starts, `start` and `synapses` are used. With lines, `group`,
/// `synapses` (which then holds the lines) and `further` are; `start` is NULL. Both may have a filter.
struct synapse_table {
    struct synapse_format format;  ///< how a word is read
    struct synapse_index index;    ///< which form the table has, and its sizes
    uint32_t size;                 ///< synapses
    uint32_t *synapses;            ///< lines; or packed, sorted by list; without classes each with its weight
    uint32_t *start;               ///< [lists + 1] list l is synapses[start[l]] up to synapses[start[l + 1]]
    struct line_group *group;      ///< [groups]
    uint32_t *further;             ///< words that did not fit their line
    uint32_t lines, further_words; ///< how many lines there are, and words beyond them; 0 with starts
    uint64_t *filter;              ///< [filter_words]
};

/// Makes a table of the synapses in `buckets`, which it takes over. `sources` holds all sources of the rank
/// in this lane in buckets of equal width, and numbers them: these are the lists. Close the table also where
/// it was never opened but set to zero.
void synapse_table_open(struct synapse_table *table, struct buckets *buckets, const struct id_set *sources);
void synapse_table_close(struct synapse_table *table);

uint64_t synapse_table_bytes(const struct synapse_table *table); ///< synapses included

/// What delivery counts, for the record and for the access model.
struct delivered {
    uint64_t synaptic_events; ///< synapses visited
    uint64_t first_accesses;  ///< lists entered that hold a synapse
    uint64_t lookups;         ///< spikes examined
};

/// Adds to the ring what the `n` spikes in `words`, packed as `spikes` says (base/spike.h), cause. The lists
/// that they name must exist. `first_step` is that of their window. The next row of the ring to be read
/// must belong to a later step than any of the spikes. Without classes the ring must not be narrow. The table
/// is only read, so threads that have a ring each need no lock. A table without synapses examines no spikes.
typedef struct delivered delivery_function(const struct synapse_table *table, const uint32_t *words, size_t n,
                                           struct spike_format spikes, uint32_t first_step,
                                           struct ring *ring);
struct delivered deliver_tuned(const struct synapse_table *table, const uint32_t *words, size_t n,
                               struct spike_format spikes, uint32_t first_step, struct ring *ring);
/// The same in plain code, slowly (deliver_reference.c).
struct delivered deliver_reference(const struct synapse_table *table, const uint32_t *words, size_t n,
                                   struct spike_format spikes, uint32_t first_step, struct ring *ring);
