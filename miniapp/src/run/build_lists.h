/// \file
/// From drawn synapses to numbered lists: the steps of build.c that turn sources into synapse tables.
///
/// All threads must have finished a step before the next one begins. Nothing here has an entry for every
/// neuron of the network: what a thread counts are buckets of sources (synapse/buckets.h), and the sources of
/// a rank are a set of two bytes for each of them (base/id_set.h).

#ifndef RUN_BUILD_LISTS_H
#define RUN_BUILD_LISTS_H

#include "run/build.h"

/// Data that is needed only while the tables are built.
struct lists {
    struct buckets **buckets; ///< [threads][lanes]
    struct wanted *wanted;    ///< [lanes]
    int *lanes;               ///< [projections] lane of all their synapses, or -1 if several share them
    unsigned *source_bits;    ///< [lanes] of the buckets
};

void lists_open(struct lists *lists, const struct model *model);
void lists_close(struct lists *lists, const struct model *model);

/// Frees what is left of the buckets.
void lists_close_buckets(struct lists *lists, const struct model *model);

/// Draws, as thread `thread`, the synapses of its neurons twice: counts them and puts them into buckets.
/// Fails where a thread has more synapses than can be counted.
void lists_draw(struct lists *lists, const struct model *model, int thread, struct error *error);

/// Finds, as thread `thread`, the sources of all threads in its share of the buckets.
void lists_unite(struct lists *lists, const struct model *model, int thread);

/// Numbers the lists of all lanes: the sources with a synapse on this rank, by id. Fails where a spike cannot
/// carry the number.
bool lists_number(struct lists *lists, const struct model *model, struct error *error);

/// Makes, as thread `thread`, its tables.
void lists_finish(struct lists *lists, const struct model *model, int thread);

#endif
