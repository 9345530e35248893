#include "record/record.h"

#include "measurement/clock.h"

enum { piece = 1 << 28 }; ///< bytes of a message, which an int can count; a shorter one ends a block

static void send_block(MPI_Comm comm, const char *own, size_t bytes) {
    for (size_t at = 0;; at += piece) {
        const size_t left = bytes - at;
        MPI_Send(own + at, (int)(left < piece ? left : piece), MPI_BYTE, 0, 0, comm);
        if (left < piece) return;
    }
}

static char *receive_block(MPI_Comm comm, int from, size_t *bytes) {
    char *block = NULL;
    int count = piece;
    for (*bytes = 0; count == piece; *bytes += (size_t)count) {
        MPI_Status status;
        MPI_Probe(from, 0, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        block = alloc_more(block, *bytes + (size_t)count, 1);
        MPI_Recv(block + *bytes, count, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
    }
    return block;
}

bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context) {
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    if (rank != 0) {
        send_block(comm, own, count * size);
        return true;
    }
    bool taken = take(own, count, context);
    for (int other = 1; other < ranks; other++) {
        size_t bytes;
        char *block = receive_block(comm, other, &bytes);
        taken = take(block, bytes / size, context) && taken;
        free(block);
    }
    return taken;
}

/// Items that are gathered one behind the other.
struct pile {
    char *items;
    size_t size, count;
};

static bool append(const void *block, size_t count, void *context) {
    struct pile *pile = context;
    if (count) memcpy(pile->items + pile->count * pile->size, block, count * pile->size);
    pile->count += count;
    return true;
}

void nodes_gather(struct nodes *nodes, const struct host *host, const char *sysfs, MPI_Comm world) {
    int lowest;
    struct node own = {0};
    MPI_Comm node;
    const int rank = comm_rank(world), ranks = comm_size(world);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &own.ranks);
    MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    if (lowest == rank) {
        own.host = *host;
        frequency_read(&own.frequency, sysfs);
    }
    if (lowest == rank && time_is_simulated) { // gethostname knows only the machine that simulates
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
    struct pile nodes_found = {.items = (char *)nodes->node, .size = sizeof own};
    gather_blocks(world, &own, lowest == rank, sizeof own, append, &nodes_found);
    nodes->count = (int)nodes_found.count;
    MPI_Gather(&lowest, 1, MPI_INT, nodes->of_rank, 1, MPI_INT, 0, world);
    for (int r = 0, found = 0; rank == 0 && r < ranks; r++) // the lowest rank of a node is numbered first
        nodes->of_rank[r] = nodes->of_rank[r] == r ? found++ : nodes->of_rank[nodes->of_rank[r]];
}

void nodes_close(struct nodes *nodes) {
    FREE(nodes->node, nodes->of_rank);
    *nodes = (struct nodes){0};
}

json_t *nodes_json(const struct nodes *nodes) {
    if (time_is_simulated) return json_null();
    json_t *list = json_array();
    for (int n = 0; n < nodes->count; n++) {
        const struct node *node = &nodes->node[n];
        const struct frequency *f = &node->frequency;
        json_array_append_new(list,
                              json_pack("{ss ss so so so ss* so so si}", "name", node->host.name, "cpu",
                                        node->host.cpu, "cores", known_count((uint64_t)node->host.cores),
                                        "memory_bytes", known_count(node->host.memory_bytes), "governor",
                                        known_text(f->governor), "governor_reason",
                                        *f->governor ? NULL : "no scaling_governor can be read in /sys",
                                        "frequency_min_hz", known_count(f->low_hz), "frequency_max_hz",
                                        known_count(f->high_hz), "ranks", node->ranks));
    }
    return list;
}

// -------------------- results

static uint64_t state_checksum(const struct part *part) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < part->n_blocks; b++) {
        const struct block *block = &part->blocks[b];
        for (uint32_t i = 0; i < block->share.count; i++)
            sum += checksum_state(block->share.first + i * block->share.stride,
                                  block->model->state_of(block->state, i));
    }
    return sum;
}

static void add_lanes(struct rank_tally *own, const struct model *model) {
    for (int l = 0; l < model->n_lanes; l++) {
        const struct lane *lane = &model->lanes[l];
        const struct traffic traffic = lane_traffic(lane);
        struct lane_tally *tally = &own->lanes[l];
        tally->windows = lane->ended;
        tally->messages = traffic.messages;
        tally->bytes = traffic.bytes;
        tally->spikes = lane->spikes_sent;
        tally->connections = (uint64_t)lane->windows->exchange->connections;
        for (int i = 0; i < lane->plan->exchange.levels.n; i++) tally->levels[i] = lane_level(lane, i);
        for (int t = 0; t < model->threads; t++) tally->synapses += lane->tables[t].size;
        own->synapses += tally->synapses;
        own->traffic.messages += traffic.messages;
        own->traffic.bytes += traffic.bytes;
    }
}

/// Turns a list like "0-3,8" into numbers.
static json_t *numbers(const char *list) {
    json_t *all = json_array();
    int first, last, read;
    while (sscanf(list, "%d%n", &first, &read) == 1) {
        list += read;
        last = first;
        if (sscanf(list, "-%d%n", &last, &read) == 1) list += read;
        for (int i = first; i <= last; i++) json_array_append_new(all, json_integer(i));
        list += *list == ',';
    }
    return all;
}

static bool take_numbers(const void *text, size_t count, void *list) {
    (void)count;
    return json_array_append_new(list, numbers(text)) == 0;
}

json_t *tally_processors(const char *list, MPI_Comm world) {
    json_t *all = comm_rank(world) == 0 ? json_array() : NULL;
    gather_blocks(world, list, strlen(list) + 1, 1, take_numbers, all);
    return all;
}

void tally_close(struct rank_tally *tally) {
    if (tally) FREE(tally->lanes->levels, tally->lanes, tally);
}

/// Gathers `count` items of every rank. \return on the first rank all of them, one rank after the other.
static void *gather(MPI_Comm world, const void *own, size_t count, size_t size) {
    const size_t ranks = (size_t)comm_size(world);
    struct pile all = {.items = comm_rank(world) == 0 ? alloc(ranks * count, size) : NULL, .size = size};
    gather_blocks(world, own, count, size, append, &all); // MPI_Gather keeps blocks on other ranks, too
    return all.items;
}

struct rank_tally *tally(const struct model *model, const struct measured *measured, double build_s,
                         MPI_Comm world) {
    const size_t n_lanes = (size_t)model->n_lanes, most = (size_t)lane_levels_most(model->schedule);
    struct lane_tally *own_lanes = ALLOC_ZERO(struct lane_tally, n_lanes);
    struct level_traffic *own_levels = ALLOC_ZERO(struct level_traffic, n_lanes * most);
    struct rank_tally own = {.neurons = model->neurons,
                             .lanes = own_lanes,
                             .peak_bytes = measured->peak_bytes,
                             .build_s = build_s,
                             .simulate_s = measured->simulate_s,
                             .process_s = measured->process_s,
                             .node_busy_s = measured->node_busy_s,
                             .node_stolen_s = measured->node_stolen_s};
    for (size_t l = 0; l < n_lanes; l++) own_lanes[l].levels = own_levels + l * most;
    for (int t = 0; t < model->threads; t++) {
        part_counts_add(&own.counts, &model->parts[t]->counts);
        own.state_checksum += state_checksum(model->parts[t]);
    }
    add_lanes(&own, model);
    build_bytes(model, own.part_bytes);
    own.log_bytes = measured->log.time ? measured->log.cycles * sizeof *measured->log.time : 0;
    memcpy(own.phase_s, measured->log.total, sizeof own.phase_s);

    struct rank_tally *ranks = gather(world, &own, 1, sizeof own);
    struct lane_tally *lanes = gather(world, own_lanes, n_lanes, sizeof *lanes);
    struct level_traffic *levels = gather(world, own_levels, n_lanes * most, sizeof *levels);
    for (size_t r = 0; ranks && r < (size_t)model->processes; r++) {
        ranks[r].lanes = lanes + r * n_lanes;
        for (size_t l = 0; l < n_lanes; l++) ranks[r].lanes[l].levels = levels + (r * n_lanes + l) * most;
    }
    FREE(own_lanes, own_levels);
    return ranks;
}

double results_largest(const struct results *results, size_t member) {
    double value = -INFINITY;
    for (int r = 0; r < results->model->processes; r++)
        value = fmax(value, *(const double *)((const char *)&results->ranks[r] + member));
    return value;
}

uint64_t results_sum(const struct results *results, size_t member) {
    uint64_t sum = 0;
    for (int r = 0; r < results->model->processes; r++)
        sum += *(const uint64_t *)((const char *)&results->ranks[r] + member);
    return sum;
}

double results_counter_overhead(const struct results *results, double simulate_s) {
    uint64_t reads = 0;
    for (int p = 0; p < n_phases; p++) reads += results->counters->thread[0]->marks[p];
    return (double)reads * results->counters->read_s / simulate_s;
}

#define LONG(count) ((unsigned long long)(count))

/// Writes the next value of a line, or nothing where it is unknown.
static void write_count(FILE *file, uint64_t count, bool is_known) {
    fprintf(file, is_known ? ",%llu" : ",", LONG(count));
}

bool results_write_ranks(const struct results *results, FILE *file) {
    const struct dry *dry = results->model->dry;
    const int levels = lane_levels_most(results->model->schedule);
    fprintf(file,
            "rank,neurons,synapses,spikes,synaptic_events,external_events,first_accesses,messages,bytes_sent,"
            "peak_bytes,build_s,simulate_s,node,lookups,checksum,thread_wait_s");
    for (int i = 1; i <= levels; i++)
        fprintf(file, ",messages_level_%d,words_level_%d,bytes_level_%d", i, i, i);
    fprintf(file, "\n");
    for (int r = 0; r < results->model->processes; r++) {
        const struct rank_tally *t = &results->ranks[r];
        fprintf(file, "%d,%llu,%llu,%llu,%llu,%llu,%llu", dry ? dry->rank : r, LONG(t->neurons),
                LONG(t->synapses), LONG(t->counts.spikes), LONG(t->counts.synaptic_events),
                LONG(t->counts.external_events), LONG(t->counts.first_accesses));
        write_count(file, t->traffic.messages, !dry);
        write_count(file, t->traffic.bytes, !dry);
        write_count(file, t->peak_bytes, t->peak_bytes > 0);
        fprintf(file, dry ? ",%.9g," : ",%.9g,%.9g", t->build_s, t->simulate_s);
        fprintf(file, ",%d,%llu,%016llx,%.9g", results->nodes->of_rank[r], LONG(t->counts.lookups),
                LONG(t->counts.checksum + t->state_checksum), t->phase_s[phase_thread_wait]);
        for (int i = 0; i < levels; i++) { // what it has sent in each level, all lanes together
            struct level_traffic sum = {0};
            for (int l = 0; l < results->model->n_lanes; l++) level_traffic_add(&sum, &t->lanes[l].levels[i]);
            write_count(file, sum.messages, !dry);
            write_count(file, sum.words, !dry);
            write_count(file, sum.bytes, !dry);
        }
        fprintf(file, "\n");
    }
    return !ferror(file);
}

// -------------------- arrays

/// Writes the header of a NumPy array: version 1.0, C order, little endian. `type` is such as "<f4".
static bool npy_header(FILE *file, const char *type, const size_t *shape, int dimensions) {
    char text[256];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < dimensions; i++) n += snprintf(text + n, sizeof text - (size_t)n, "%zu, ", shape[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");

    enum { preamble = 10, alignment = 64 };
    int padded = (preamble + n + 1 + alignment - 1) / alignment * alignment - preamble;
    unsigned char head[preamble] = "\x93NUMPY\x01";
    head[8] = (unsigned char)(padded & 255);
    head[9] = (unsigned char)(padded >> 8);
    return fwrite(head, 1, preamble, file) == preamble && fprintf(file, "%-*s\n", padded - 1, text) == padded;
}

static int by_step_then_gid(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

bool arrays_write_spikes(const struct trace *trace, MPI_Comm comm, FILE *file) {
    unsigned long long own = trace->count, total = 0;
    const int rank = comm_rank(comm);
    MPI_Reduce(&own, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);

    const size_t size = sizeof *trace->spikes;
    struct pile all = {.items = rank == 0 ? alloc(total, size) : NULL, .size = size};
    gather_blocks(comm, trace->spikes, trace->count, size, append, &all);
    if (rank != 0) return true;
    qsort(all.items, all.count, size, by_step_then_gid);
    const bool written = npy_header(file, "<u4", (size_t[]){all.count, 2}, 2) &&
                         fwrite(all.items, size, all.count, file) == all.count;
    free(all.items);
    return written;
}

static bool write_block(const void *block, size_t count, void *file) {
    return fwrite(block, sizeof(float[n_phases]), count, file) == count;
}

bool arrays_write_cycles(const struct cycle_log *log, MPI_Comm comm, FILE *file) {
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    bool headed = rank != 0 || npy_header(file, "<f4", (size_t[]){(size_t)ranks, log->cycles, n_phases}, 3);
    return gather_blocks(comm, log->time, log->cycles, sizeof *log->time, write_block, file) && headed;
}
