#include "record/nodes.h"

#include "base/alloc.h"
#include "measurement/simulated.h"
#include "record/gather.h"
#include <stdlib.h>
#include <string.h>

static bool take_node(const void *block, size_t count, void *context) {
    struct nodes *nodes = context;
    if (count > 0) nodes->node[nodes->count++] = *(const struct node *)block;
    return true;
}

/// Describes the node of this rank, which is its lowest one.
static void describe(struct node *own, const struct host *host, const char *sysfs) {
    own->host = *host;
    frequency_read(&own->frequency, sysfs);
    if (time_is_simulated) { // gethostname knows only the machine that simulates
        char name[MPI_MAX_PROCESSOR_NAME] = "";
        int length;
        MPI_Get_processor_name(name, &length);
        snprintf(own->host.name, sizeof own->host.name, "%.100s", name);
    }
}

void nodes_gather(struct nodes *nodes, const struct host *host, const char *sysfs, MPI_Comm world) {
    int rank, ranks, lowest;
    struct node own = {0};
    MPI_Comm node;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &own.ranks);
    MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    if (lowest == rank) describe(&own, host, sysfs);

    *nodes = (struct nodes){0};
    if (rank == 0) {
        nodes->node = ALLOC(struct node, (size_t)ranks);
        nodes->of_rank = ALLOC(int, (size_t)ranks);
    }
    gather_blocks(world, &own, lowest == rank, sizeof own, take_node, nodes);
    MPI_Gather(&lowest, 1, MPI_INT, nodes->of_rank, 1, MPI_INT, 0, world);
    for (int r = 0, found = 0; rank == 0 && r < ranks; r++) // the lowest rank of a node is numbered first
        nodes->of_rank[r] = nodes->of_rank[r] == r ? found++ : nodes->of_rank[nodes->of_rank[r]];
}

void nodes_close(struct nodes *nodes) {
    free(nodes->node);
    free(nodes->of_rank);
    *nodes = (struct nodes){0};
}

json_t *nodes_names(const struct nodes *nodes) {
    json_t *list = json_array();
    for (int n = 0; n < nodes->count; n++) json_array_append_new(list, json_string(nodes->node[n].host.name));
    return list;
}

static json_t *text_or_null(const char *text) {
    return *text ? json_string(text) : json_null();
}

static json_t *known_or_null(uint64_t value) {
    return value ? json_integer((json_int_t)value) : json_null();
}

json_t *nodes_json(const struct nodes *nodes) {
    if (time_is_simulated) return json_null();
    json_t *list = json_array();
    for (int n = 0; n < nodes->count; n++) {
        const struct node *node = &nodes->node[n];
        const struct frequency *f = &node->frequency;
        json_array_append_new(list,
                              json_pack("{ss ss so so so so so so si}", "name", node->host.name, "cpu",
                                        node->host.cpu, "cores", known_or_null((uint64_t)node->host.cores),
                                        "memory_bytes", known_or_null(node->host.memory_bytes), "governor",
                                        text_or_null(f->governor), "governor_reason", text_or_null(f->reason),
                                        "frequency_min_hz", known_or_null(f->low_hz), "frequency_max_hz",
                                        known_or_null(f->high_hz), "ranks", node->ranks));
    }
    return list;
}
