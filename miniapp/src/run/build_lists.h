/// \file
/// From drawn synapses to numbered lists: the steps of build.c that turn sources into synapse tables.
///
/// Between two of the steps all threads must have finished the one before.

#ifndef RUN_BUILD_LISTS_H
#define RUN_BUILD_LISTS_H

#include "run/build.h"

/// Scratch while the tables are built.
struct lists {
    uint32_t ***counts; ///< [threads][lanes][all neurons of the network] synapses from each source
    uint32_t **list_of; ///< [lanes][all neurons] number of the list of each source that has one
    uint32_t *n_lists;  ///< [lanes]
    int *lanes;         ///< [projections] lane of all their synapses, or -1 if several share them
};

void lists_open(struct lists *lists, const struct model *model);
void lists_close(struct lists *lists, const struct model *model);

/// Thread `thread` counts the synapses of its neurons by lane and source.
void lists_count(struct lists *lists, const struct model *model, int thread);

/// Numbers the lists of lane `lane`: sources with a synapse on this rank, by owner, then id.
/// \return the lane's sources; owned by the caller. Fails where a spike cannot carry the number.
struct wanted lists_number(struct lists *lists, const struct model *model, int lane, struct error *error);

/// Thread `thread` makes its tables and draws its synapses again, into their places.
void lists_fill(struct lists *lists, const struct model *model, int thread, struct error *error);

#endif
