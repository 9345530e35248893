/// \file
/// From drawn synapses to numbered lists, while the network is built.
///
/// A list is made of all synapses of one source on this rank. Its number is what a spike on the wire names
/// (base/spike.h), so all threads of a rank must agree on it, and so must the sender. They do so in three
/// steps: each thread draws its synapses into buckets of sources (lists_draw()), the threads find together
/// which sources there are (lists_unite()), and these are numbered by id (transport/source_table.h).

#pragma once

#include "run/model.h"
#include "synapse/buckets.h"

/// What turns drawn synapses into numbered lists, needed only while the tables are built. A thread counts
/// buckets of sources (synapse/buckets.h), which become wider where there are many neurons and few synapses,
/// and the sources of a rank are a set of two bytes for each of them (base/id_set.h).
struct lists {
    struct buckets **buckets;          ///< [threads][lanes]
    struct source_table *source_table; ///< [lanes]
    int *lane_of_projection; ///< [projections] lane of all their synapses, or -1 if several share them
    unsigned *source_bits;   ///< [lanes] of the buckets
};

/// Opens the lists of all lanes of a model whose parts are there: in which lane each projection lies, and how
/// wide buckets of sources are. Buckets of all threads are equally wide, as wide as the largest thread
/// allows. Close it in any case.
void lists_open(struct lists *lists, const struct model *model);

/// Draws, as thread `thread`, the synapses of its neurons twice: counts them and puts them into buckets.
/// Fails where a thread has more synapses than can be counted. Threads call it side by side.
void lists_draw(struct lists *lists, const struct model *model, int thread, struct error *error);

/// Finds the sources of all threads in the share of the buckets that one thread has. Threads call it side by
/// side, once all of them have drawn.
void lists_unite(struct lists *lists, const struct model *model, int thread);

/// Frees the buckets of all threads, of which synapse tables have taken over the synapses.
void lists_close_buckets(struct lists *lists, const struct model *model);

/// Frees all that lists hold. What has been taken over by others is not freed.
void lists_close(struct lists *lists, const struct model *model);

/// Refuses so many lists of a rank in a lane (of a broadcast: neurons) where a four-byte spike cannot name
/// them beside its step.
bool lists_check_words(const struct lane_plan *plan, const struct description *description, uint64_t number,
                       struct error *error);
