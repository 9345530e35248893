#include "record/kernel_record.h"

#include "base/alloc.h"
#include "base/npy.h"
#include "record/gather.h"
#include <stdlib.h>
#include <string.h>

static struct node_kernel *summarise(const struct kernel_reader *reader, struct interval measured, int rank) {
    struct node_kernel *node = ALLOC_ZERO(struct node_kernel, 1);
    const struct processes *others = &reader->others;
    *node = (struct node_kernel){.node = rank,
                                 .hardware_threads = reader->counts.n_cores,
                                 .interval_s = reader->interval_s,
                                 .readings = (double)reader->readings,
                                 .events = (double)reader->events,
                                 .cost = reader->cost,
                                 .read_s = reader->read_s / (double)reader->readings,
                                 .looked_s = reader->time_s[reader->readings - 1] - measured.from_s,
                                 .started = reader->started,
                                 .full = reader->full,
                                 .n_others = others->count < kernel_others_max ? (int)others->count
                                                                               : kernel_others_max};
    node->may_trace = kernel_tracers(node->tracers, sizeof node->tracers);
    snprintf(node->missing, sizeof node->missing, "%s", reader->counts.missing);
    if (node->n_others > 0)
        memcpy(node->other, others->process, (size_t)node->n_others * sizeof *node->other);
    return node;
}

/// Returns the lines of this node, owned by the caller, and how many characters they are.
static char *lines(const struct kernel_reader *reader, struct interval measured, int rank, size_t *length) {
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    size_t e = 0;
    for (size_t r = 0; r < reader->readings; r++) {
        const double time_s = reader->time_s[r] - measured.from_s;
        fprintf(file, "%d,%.6f,%d,reader,reading,1\n", rank, time_s, reader->reader_core[r]);
        for (; e < reader->events && reader->event[e].reading == r; e++) {
            const struct kernel_event *event = &reader->event[e];
            const struct kernel_cause *cause = &reader->counts.cause[event->cause];
            fprintf(file, "%d,%.6f,%d,%s,%s,%u\n", rank, time_s, reader->counts.core[event->core],
                    cause->source, cause->name, event->count);
        }
    }
    fclose(file);
    return text;
}

static bool take_node(const void *block, size_t count, void *context) {
    struct kernel_record *record = context;
    if (count > 0) record->node[record->nodes++] = *(const struct node_kernel *)block;
    return true;
}

static bool write_text(const void *block, size_t count, void *file) {
    return count == 0 || fwrite(block, 1, count, file) == count;
}

bool kernel_record_gather(struct kernel_record *record, const struct kernel_reader *reader,
                          struct interval measured, FILE *file) {
    int rank, ranks;
    MPI_Comm_rank(reader->world, &rank);
    MPI_Comm_size(reader->world, &ranks);
    *record = (struct kernel_record){0};
    if (rank == 0) record->node = ALLOC(struct node_kernel, (size_t)ranks);
    struct node_kernel *node = reader->reads ? summarise(reader, measured, rank) : NULL;
    gather_blocks(reader->world, node, node ? 1 : 0, sizeof *node, take_node, record);
    free(node);

    size_t length = 0;
    char *text = reader->reads ? lines(reader, measured, rank, &length) : NULL;
    const bool headed = rank != 0 || fputs("node,time_s,core,source,name,count\n", file) >= 0;
    const bool written = gather_blocks(reader->world, text, length, 1, write_text, file);
    free(text);
    return headed && written;
}

static bool write_block(const void *block, size_t count, void *file) {
    return fwrite(block, sizeof(float[n_cycle_usage]), count, file) == count;
}

bool kernel_record_write_cycles(const struct cycle_usage *usage, MPI_Comm comm, FILE *file) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const size_t shape[] = {(size_t)ranks, usage->cycles, n_cycle_usage};
    const bool headed = rank != 0 || npy_header(file, "<f4", shape, 3);
    return gather_blocks(comm, usage->kept, usage->cycles, sizeof *usage->kept, write_block, file) && headed;
}

static json_t *node_json(const struct node_kernel *node) {
    json_t *others = json_array();
    for (int i = 0; i < node->n_others; i++) {
        const struct process *p = &node->other[i];
        json_array_append_new(
            others, json_pack("{ss* si sf}", "name", p->name, "core", p->core, "used_s", p->used_s));
    }
    json_t *missing = !node->started   ? json_string("no thread for reading could be started")
                      : *node->missing ? json_string(node->missing)
                                       : json_null();
    return json_pack("{si si sf sI sI sf sf sf sb so sb ss so}", "node", node->node, "hardware_threads",
                     node->hardware_threads, "interval_s", node->interval_s, "readings",
                     (json_int_t)node->readings, "events", (json_int_t)node->events, "sampling_cost",
                     node->cost, "read_s", node->read_s, "looked_s", node->looked_s, "full", node->full,
                     "missing", missing, "may_trace", node->may_trace, "tracers", node->tracers, "processes",
                     others);
}

json_t *kernel_record_json(const struct kernel_record *record, const struct kernel_reader *reader,
                           json_t *node_of_rank) {
    if (record->nodes == 0) {
        json_decref(node_of_rank);
        return json_null();
    }
    json_t *nodes = json_array(), *fields = json_array();
    for (int n = 0; n < record->nodes; n++) json_array_append_new(nodes, node_json(&record->node[n]));
    for (int f = 0; f < n_cycle_usage; f++) json_array_append_new(fields, json_string(cycle_usage_names[f]));
    return json_pack("{sf sf so so so}", "interval_s", reader->description->given.kernel_interval_s,
                     "cycle_read_s", reader->cycle_read_s, "fields", fields, "nodes", nodes, "node_of_rank",
                     node_of_rank);
}

void kernel_record_close(struct kernel_record *record) {
    free(record->node);
    *record = (struct kernel_record){0};
}
