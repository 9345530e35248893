/// \file
/// From drawn synapses to numbered lists: the steps of build.c that turn sources into synapse tables.
///
/// All threads must have finished a step before the next one begins.

#ifndef RUN_BUILD_LISTS_H
#define RUN_BUILD_LISTS_H

#include "run/build.h"

/// What is needed only while the tables are built.
struct lists {
    uint32_t ***counts; ///< [threads][lanes][all neurons of the network] synapses from each source
    uint32_t **list_of; ///< [lanes][all neurons] number of the list of each source that has one
    uint32_t *n_lists;  ///< [lanes]
    int *lanes;         ///< [projections] lane of all their synapses, or -1 if several share them
};

void lists_open(struct lists *lists, const struct model *model);
void lists_close(struct lists *lists, const struct model *model);

/// Counts, as thread `thread`, the synapses of its neurons by lane and source.
void lists_count(struct lists *lists, const struct model *model, int thread);

/// Numbers the lists of lane `lane`: the sources with a synapse on this rank, by owner, then by id. Fails
/// where a spike cannot carry the number.
/// \return the sources of the lane, owned by the caller.
struct wanted lists_number(struct lists *lists, const struct model *model, int lane, struct error *error);

/// Makes, as thread `thread`, its tables, and draws its synapses again, into their places.
void lists_fill(struct lists *lists, const struct model *model, int thread, struct error *error);

#endif
