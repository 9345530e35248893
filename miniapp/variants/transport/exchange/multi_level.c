/// \file
/// Routing through bridge ranks (Du et al. 2023), in any number of levels. In a grid of N ranks with two
/// levels, a rank has about 2 sqrt(N) - 2 connections instead of N - 1, and sends fewer and larger messages.
///
/// transport/grid.h says which way words go. In each hop, the exchange of its level moves them along the
/// lines of the grid: any of the ordinary exchanges. A rank sorts what it receives in a hop into what it
/// sends in later ones. Each run of words has a frame of two words before it: the position that grid_frame()
/// names, and the count.
///
/// Where words are merged, those for a bridge name spikes (transport/fanout.h), and frames name the source.
/// start() begins the first hop only. The others follow one after the other in finish(), since a rank must
/// have all words of a hop before it can send those of the next one.

#include "base/alloc.h"
#include "transport/communicator.h"
#include "transport/exchange.h"
#include "transport/fanout.h"
#include <stdlib.h>

/// Words before each run: the position that grid_frame() names, and how many words follow.
enum { frame_words = 2 };

/// The exchange of one line.
struct part {
    struct exchange *exchange;      ///< owned; of the ranks of the line
    struct send_buffer send_buffer; ///< owned; framed runs of words for each of them
};

/// What a rank needs for a hop: the lines in which it takes a seat.
struct hop {
    int level; ///< that it crosses
    int seats; ///< lines in which this rank takes part: one but where the last group is smaller
    struct part
        *seat; ///< [seats] in the order of their lines, so that no ranks wait for each other in a ring
};

/// The state of the exchange.
struct multi_level {
    struct exchange common;      ///< first, so that a pointer to one is a pointer to the other
    struct grid grid;            ///< as this rank sees it
    struct hop hop[levels_max];  ///< [levels] in the order in which words make them
    const struct fanout *fanout; ///< NULL: nothing is merged
    uint32_t *spikes;            ///< [lines] of a run, by where they go on to; 0 between runs
};

/// Tells the ranks of a line to which destinations words will come to them. `asked` and `passed` [ranks] mark
/// the destinations of words that are here before and after the hop. Collective. Sets the partners, whose
/// ranks the caller frees.
static struct partners announce(struct multi_level *x, int hop, int seat, MPI_Comm line, const bool *asked,
                                bool *passed) {
    const int own = comm_rank(line), ranks = comm_size(line);
    int *count = ALLOC_ZERO(int, 4 * (size_t)ranks), *start = count + ranks, *got = start + ranks;
    int *got_start = got + ranks, *targets = ALLOC(int, (size_t)ranks), *sources = ALLOC(int, (size_t)ranks);
    struct partners partners = {.targets = targets, .sources = sources};
    // Count, for each rank of the line, the destinations that are reached through it; then list them.
    for (int to = 0; to < x->common.ranks; to++) {
        const struct grid_step step = grid_step(&x->grid, hop, to);
        if (asked[to] && step.seat == seat) count[step.place]++;
    }
    int *told = ALLOC(int, mpi_starts(count, ranks, start, "destinations of a line"));
    for (int to = 0; to < x->common.ranks; to++) {
        const struct grid_step step = grid_step(&x->grid, hop, to);
        if (asked[to] && step.seat == seat) told[start[step.place]++] = to;
    }
    for (int rank = 0; rank < ranks; rank++) start[rank] -= count[rank];
    // Ranks tell each other, so that each knows what will be there after the hop.
    MPI_Alltoall(count, 1, MPI_INT, got, 1, MPI_INT, line);
    const uint64_t n = mpi_starts(got, ranks, got_start, "destinations of a line");
    int *heard = ALLOC(int, n);
    MPI_Alltoallv(told, count, start, MPI_INT, heard, got, got_start, MPI_INT, line);
    for (uint64_t i = 0; i < n; i++) passed[heard[i]] = true;
    for (int rank = 0; rank < ranks; rank++) {
        if (rank == own) continue;
        if (count[rank]) targets[partners.n_targets++] = rank;
        if (got[rank]) sources[partners.n_sources++] = rank;
    }
    FREE(told, heard, count);
    return partners;
}

/// Opens the exchange of a line, and frees `line`.
static void open_part(struct multi_level *x, int hop, int seat, MPI_Comm line, const bool *asked,
                      bool *passed) {
    struct part *part = &x->hop[hop].seat[seat];
    const int level = x->hop[hop].level;
    struct exchange_spec spec = {.backend = x->grid.levels.part[level]};
    const struct partners partners = announce(x, hop, seat, line, asked, passed);
    const int ranks = comm_size(line);
    if (ranks == 1) spec.backend = exchange_find("self");
    part->exchange = exchange_open(&spec, line, &partners);
    // The own rank becomes the last of the targets. `partners` has them as constants for the exchange, but
    // announce() took them from the heap for all ranks of the line, of which this one was left out: the cast
    // is safe, and so are those that free them below.
    ((int *)partners.targets)[partners.n_targets] = part->exchange->rank;
    send_buffer_open_some(&part->send_buffer, ranks, partners.targets, partners.n_targets + 1);
    x->common.level[level].connections += (uint64_t)part->exchange->connections;
    x->common.connections += part->exchange->connections;
    MPI_Comm_free(&line);
    FREE((int *)partners.targets, (int *)partners.sources);
}

/// Makes the lines of a hop. `asked` becomes what is here after it. Collective.
static void open_hop(struct multi_level *x, int number, bool *asked) {
    struct hop *hop = &x->hop[number];
    hop->level = grid_level(&x->grid, number);
    const int rounds = grid_rounds(&x->grid, hop->level), ranks = x->common.ranks;
    hop->seat = ALLOC_ZERO(struct part, (size_t)rounds);
    bool *passed = ALLOC_ZERO(bool, (size_t)ranks);
    for (int round = 0; round < rounds; round++) {
        const struct grid_line line = grid_line(&x->grid, hop->level, round);
        MPI_Comm comm;
        MPI_Comm_split(x->common.comm, line.name >= 0 ? line.name : MPI_UNDEFINED, x->grid.own, &comm);
        if (line.name >= 0) open_part(x, number, hop->seats++, comm, asked, passed);
    }
    memcpy(asked, passed, (size_t)ranks * sizeof *asked);
    free(passed);
}

/// Opens the lines hop by hop. `asked` marks the positions for which words may be here before a hop: first
/// the targets of this rank.
static void multi_level_open(struct exchange *exchange) {
    struct multi_level *x = (struct multi_level *)exchange;
    const struct partners *partners = &exchange->partners;
    bool *asked = ALLOC_ZERO(bool, (size_t)exchange->ranks);
    x->grid = grid_of(&exchange->spec.levels, exchange->ranks, exchange->rank);
    x->fanout = partners->fanout;
    if (x->fanout) x->spikes = ALLOC_ZERO(uint32_t, (size_t)x->fanout->base[x->grid.levels.n]);
    exchange->connections = 0;
    for (int i = 0; i < partners->n_targets; i++) asked[grid_position(&x->grid, partners->targets[i])] = true;
    for (int hop = 0; hop < x->grid.levels.n; hop++) open_hop(x, hop, asked);
    free(asked);
}

/// Begins a run of words in the send buffer of a part. A frame names the source where words name spikes.
static struct send_buffer *begin_run(struct multi_level *x, int hop, struct grid_step step, int source,
                                     int destination, size_t count) {
    struct part *part = &x->hop[hop].seat[step.seat];
    const int frame = x->fanout ? source : grid_frame(&x->grid, hop, source, destination);
    send_buffer_add(&part->send_buffer, step.place, (uint32_t)frame);
    send_buffer_add(&part->send_buffer, step.place, (uint32_t)count);
    if (step.place != part->exchange->rank) x->common.level[x->hop[hop].level].words += count;
    return &part->send_buffer;
}

/// Puts a run of words into the send buffer of the hop, `hop` or a later one, in which it moves. Words for
/// this rank go through the last one.
static void put(struct multi_level *x, int hop, int source, int destination, struct receive_buffer_run run) {
    const struct grid_step step = grid_next(&x->grid, &hop, destination);
    if (step.seat >= x->hop[hop].seats) { // the frame is not one that any rank has written
        x->common.receive_buffer.damaged = true;
        return;
    }
    struct send_buffer *send_buffer = begin_run(x, hop, step, source, destination, run.count);
    send_buffer_append(send_buffer, step.place, run.words, run.count);
}

/// Adds a spike under the number that it has where a branch leads to.
static void add_spike(struct send_buffer *send_buffer, int place, const struct fanout *fanout,
                      const uint32_t *words, uint32_t number) {
    const uint32_t step = spike_step(fanout->format, words[fanout->wire->at]);
    for (int i = 0; i < fanout->wire->words; i++)
        send_buffer_add(send_buffer, place,
                        i == fanout->wire->at ? spike_pack(fanout->format, number, step) : words[i]);
}

/// Puts a run of words that name spikes into the send buffers of all places to which these go on in hop
/// `hop` or later: first counts them, then adds them.
static void put_spikes(struct multi_level *x, int hop, int source, struct receive_buffer_run run) {
    const struct fanout *fanout = x->fanout;
    const struct fanout_branch *branch, *end;
    const size_t size = (size_t)fanout->wire->words;
    for (size_t k = 0; k < run.count; k += size) {
        branch = fanout_find(fanout, source, run.words + k, &end);
        if (!branch) { // no rank has sent this word
            x->common.receive_buffer.damaged = true;
            return;
        }
        for (; branch < end; branch++) x->spikes[branch->line]++;
    }
    // Then begin a run in every line in which some of them go on.
    for (int h = hop; h < x->grid.levels.n; h++)
        for (int line = fanout->base[h]; line < fanout->base[h + 1]; line++) {
            const struct grid_step step = {0, line - fanout->base[h]};
            if (x->spikes[line]) begin_run(x, h, step, source, 0, x->spikes[line] * size);
            x->spikes[line] = 0;
        }
    // Then add each spike to the runs it belongs to.
    for (size_t k = 0; k < run.count; k += size)
        for (branch = fanout_find(fanout, source, run.words + k, &end); branch < end; branch++) {
            int h = hop;
            while (branch->line >= (uint32_t)fanout->base[h + 1]) h++;
            add_spike(&x->hop[h].seat->send_buffer, (int)branch->line - fanout->base[h], fanout,
                      run.words + k, branch->number);
        }
}

/// Starts the exchanges of all lines of a hop.
static void start_hop(struct hop *hop) {
    for (int seat = 0; seat < hop->seats; seat++)
        exchange_start(hop->seat[seat].exchange, &hop->seat[seat].send_buffer);
}

/// Sorts the words of this rank by where they go first, and starts the first hop.
static void multi_level_start(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct multi_level *x = (struct multi_level *)exchange;
    for (int hop = 0; hop < x->grid.levels.n; hop++)
        for (int seat = 0; seat < x->hop[hop].seats; seat++)
            send_buffer_clear(&x->hop[hop].seat[seat].send_buffer);
    for (int i = 0; i < send_buffer->n_reachable; i++) {
        const int rank = send_buffer->reachable[i];
        if (send_buffer_count(send_buffer, rank))
            put(x, 0, x->grid.own, grid_position(&x->grid, rank),
                (struct receive_buffer_run){send_buffer_words(send_buffer, rank),
                                            send_buffer_count(send_buffer, rank), exchange->rank});
    }
    start_hop(&x->hop[0]);
}

/// Works on the first hop, the only one that can be under way.
static void multi_level_progress(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct multi_level *x = (struct multi_level *)exchange;
    (void)send_buffer;
    for (int seat = 0; seat < x->hop[0].seats; seat++)
        exchange_progress(x->hop[0].seat[seat].exchange, &x->hop[0].seat[seat].send_buffer);
}

/// Takes the first framed run off `from`. \return false at the end, or where data got lost.
static bool take(struct receive_buffer_run *from, int ranks, uint32_t *frame,
                 struct receive_buffer_run *run) {
    if (from->count < frame_words) return false;
    *frame = from->words[0];
    *run = (struct receive_buffer_run){from->words + frame_words, from->words[1], from->from};
    if (*frame >= (uint32_t)ranks || run->count > from->count - frame_words) return false;
    *from = (struct receive_buffer_run){run->words + run->count, from->count - frame_words - run->count,
                                        from->from};
    return true;
}

/// Sorts what a line has brought: own words go into the receive buffer, the others into the send buffers of
/// later hops.
static void sort(struct multi_level *x, int hop, const struct part *part) {
    const struct receive_buffer *receive_buffer = &part->exchange->receive_buffer;
    const struct grid *grid = &x->grid;
    uint32_t frame;
    if (receive_buffer->damaged) x->common.receive_buffer.damaged = true;
    // A run of the part holds framed runs, one after the other.
    for (int i = 0; i < receive_buffer->runs; i++) {
        struct receive_buffer_run from = receive_buffer->run[i], run;
        while (take(&from, grid->ranks, &frame, &run)) {
            if (x->fanout && hop < grid->levels.n - 1) {
                put_spikes(x, hop + 1, (int)frame, run);
                continue;
            }
            const int source = grid_source(grid, hop, from.from, (int)frame);
            const int destination = grid_destination(grid, hop, (int)frame);
            if (destination == grid->own)
                receive_buffer_add(&x->common.receive_buffer, grid_rank(grid, source), run.words, run.count);
            else
                put(x, hop + 1, source, destination, run);
        }
        if (from.count > 0) x->common.receive_buffer.damaged = true; // no frame, or one that is cut off
    }
}

/// Moves what a part has counted to the counts of its level.
static void take_traffic(struct multi_level *x, int level, struct exchange *part) {
    const struct traffic traffic = part->traffic;
    x->common.traffic.messages += traffic.messages;
    x->common.traffic.bytes += traffic.bytes;
    x->common.level[level].messages += traffic.messages;
    x->common.level[level].bytes += traffic.bytes;
    part->traffic = (struct traffic){0, 0};
}

/// Finishes one hop after the other, and sorts what each brings.
static void multi_level_finish(struct exchange *exchange, const struct send_buffer *send_buffer) {
    struct multi_level *x = (struct multi_level *)exchange;
    (void)send_buffer;
    for (int h = 0; h < x->grid.levels.n; h++) {
        struct hop *hop = &x->hop[h];
        if (h > 0) start_hop(hop);
        for (int seat = 0; seat < hop->seats; seat++) {
            exchange_finish(hop->seat[seat].exchange, &hop->seat[seat].send_buffer);
            take_traffic(x, hop->level, hop->seat[seat].exchange);
            sort(x, h, &hop->seat[seat]);
        }
    }
}

static size_t multi_level_bytes(const struct exchange *exchange) {
    const struct multi_level *x = (const struct multi_level *)exchange;
    size_t sum = x->fanout ? (size_t)x->fanout->base[x->grid.levels.n] * sizeof *x->spikes : 0;
    for (int h = 0; h < x->grid.levels.n; h++)
        for (int seat = 0; seat < x->hop[h].seats; seat++) {
            const struct part *part = &x->hop[h].seat[seat];
            sum += exchange_bytes(part->exchange) + send_buffer_bytes(&part->send_buffer);
        }
    return sum;
}

static void multi_level_close(struct exchange *exchange) {
    struct multi_level *x = (struct multi_level *)exchange;
    for (int h = 0; h < x->grid.levels.n; h++) {
        for (int seat = 0; seat < x->hop[h].seats; seat++) {
            exchange_close(x->hop[h].seat[seat].exchange);
            send_buffer_close(&x->hop[h].seat[seat].send_buffer);
        }
        free(x->hop[h].seat);
    }
    free(x->spikes);
}

#define COMPOSED                                                                                             \
    .composed = true, .size = sizeof(struct multi_level), .open = multi_level_open,                          \
    .start = multi_level_start, .progress = multi_level_progress, .finish = multi_level_finish,              \
    .bytes = multi_level_bytes, .close = multi_level_close

const struct exchange_backend exchange_two_level = {
    .name = "two_level",
    .summary = "within a group to a bridge rank, from there to the other group, by two other exchanges",
    .ragged = true,
    COMPOSED,
};

const struct exchange_backend exchange_multi_level = {
    .name = "multi_level",
    .summary = "in up to 8 levels along the lines of a grid of ranks, each by another exchange",
    COMPOSED,
};
