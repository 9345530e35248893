/// \file
/// Finds the nodes by the ranks that share memory, and writes what may differ between them.
///
/// The lowest rank of each node describes it; rank 0 gathers these descriptions, and which rank is on which
/// node. A machine may have unequal nodes, and one whose clock is limited, or that has a quota, explains why
/// others wait.
///
/// Cost: one description of some 2 KB for each node, sent to rank 0 after the run.

#include "record/nodes.h"

#include "base/alloc.h"
#include "description/known.h"
#include "measurement/platform.h"
#include "record/gather.h"
#include "transport/communicator.h"

void nodes_gather(struct nodes *nodes, const struct host *host, const char *sysfs, MPI_Comm world) {
    // Ranks that share memory are on one node; the lowest of them names it.
    int lowest;
    struct node own = {0};
    MPI_Comm node;
    const int rank = comm_rank(world), ranks = comm_size(world);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &own.ranks);
    MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    // What is read once for each node.
    if (lowest == rank) {
        own.host = *host;
        frequency_read(&own.frequency, sysfs);
    }
    if (lowest == rank && !platform.has_hosts) { // gethostname knows only the machine that simulates
        char name[MPI_MAX_PROCESSOR_NAME] = "";
        int length;
        MPI_Get_processor_name(name, &length);
        snprintf(own.host.name, sizeof own.host.name, "%.100s", name);
    }

    *nodes = (struct nodes){0};
    if (rank == 0) {
        nodes->node = ALLOC(struct node, (size_t)ranks);
        nodes->of_rank = ALLOC(int, (size_t)ranks);
    }
    // Only the lowest rank of each node sends its description.
    struct gathered nodes_found = {.items = (char *)nodes->node, .size = sizeof own};
    gather_blocks(world, &own, lowest == rank, sizeof own, gather_append, &nodes_found);
    // The cast is safe: there are no more nodes than ranks.
    nodes->count = (int)nodes_found.count;
    // Rank 0 turns the lowest rank of each rank's node into the number of that node. Ranks are looked at in
    // their order, so the lowest rank of a node has its number before the others ask for it.
    MPI_Gather(&lowest, 1, MPI_INT, nodes->of_rank, 1, MPI_INT, 0, world);
    for (int r = 0, found = 0; rank == 0 && r < ranks; r++)
        nodes->of_rank[r] = nodes->of_rank[r] == r ? found++ : nodes->of_rank[nodes->of_rank[r]];
}

void nodes_close(struct nodes *nodes) {
    FREE(nodes->node, nodes->of_rank);
    *nodes = (struct nodes){0};
}

/// Returns why a quota is no number; NULL where it is one. Borrowed from the quota, or constant.
static const char *no_quota(const struct quota *quota) {
    if (isinf(quota->cores)) return "no control group has a quota";
    return isnan(quota->cores) ? quota->reason : NULL;
}

json_t *nodes_json(const struct nodes *nodes) {
    if (!platform.has_hosts) return json_null();
    json_t *list = json_array();
    for (int n = 0; n < nodes->count; n++) {
        const struct node *node = &nodes->node[n];
        const struct frequency *f = &node->frequency;
        json_array_append_new(
            list,
            json_pack("{ss ss so so so ss* so so si so ss*}", "name", node->host.name, "cpu", node->host.cpu,
                      "cores", known_count((uint64_t)node->host.cores), "memory_bytes",
                      known_count(node->host.memory_bytes), "governor", known_text(f->governor),
                      "governor_reason", *f->governor ? NULL : "no scaling_governor can be read in /sys",
                      "frequency_min_hz", known_count(f->low_hz), "frequency_max_hz", known_count(f->high_hz),
                      "ranks", node->ranks, "quota_cores", known(node->host.quota.cores), "quota_reason",
                      no_quota(&node->host.quota)));
    }
    return list;
}
