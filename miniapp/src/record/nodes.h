/// \file
/// The nodes of a run: which ranks share memory, and what each node is.

#pragma once

#include "measurement/host.h"
#include <jansson.h>
#include <mpi.h>

/// A node, as its lowest rank sees it.
struct node {
    struct host host;           ///< what it is
    struct frequency frequency; ///< the limits of its clock
    int ranks;                  ///< on this node
};

/// On the first rank. Nodes count from 0 in the order of their lowest ranks.
struct nodes {
    int count;         ///< nodes
    struct node *node; ///< [count]
    int *of_rank;      ///< [ranks], number of the node of each rank
};

/// Finds the nodes of `world`: ranks that share memory. Collective. \param host of the calling rank.
/// \param sysfs what is read in place of /sys. Elsewhere than on rank 0, `nodes` is empty afterwards.
void nodes_gather(struct nodes *nodes, const struct host *host, const char *sysfs, MPI_Comm world);

/// Frees both arrays.
void nodes_close(struct nodes *nodes);

/// Returns a new list of what may differ between nodes; null in simulated time, where they are not this
/// machine.
json_t *nodes_json(const struct nodes *nodes);
