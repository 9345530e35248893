/// \file
/// The tables of bridges, see transport/fanout.h.
///
/// fanout_open() divides the routes of each own neuron by where they go first (divide()). A group of routes
/// that leads to one bridge becomes an entry there: the bridge is told the stops behind it and numbers the
/// entry; the sender keeps this number as its route. Hop after hop, bridges take what they are told
/// (take_blocks()) and divide it further in the same way. The last hop needs no entry: words name lists
/// again.
///
/// Cost: each route travels once for each hop that it has still to go. Memory at a bridge: an entry for each
/// neuron whose spikes come by, a branch for each place to which they go on.

#include "transport/fanout.h"
#include "base/alloc.h"
#include "transport/communicator.h"
#include <stdlib.h>

/// A rank that needs a spike, and its list.
struct stop {
    uint32_t line;        ///< the first one on the way there
    uint32_t destination; ///< position of the rank
    uint32_t list;        ///< its number there
};

/// What a rank of a line is told: blocks of one source each, which are the position of the source, the number
/// of entries, and the entries. An entry is the number of its stops, and destination and list of each.
struct stream {
    uint32_t *words; ///< [n] owned
    size_t n, room;  ///< words, and for how many there is room
    size_t block;    ///< place of the source of the last block
};

/// The state while the tables are made.
struct setup {
    struct fanout *fanout;  ///< the tables
    struct stream *streams; ///< [lines] what each rank of a line will be told
    struct stop *stops;     ///< [room] of one spike
    size_t room;            ///< stops
    uint64_t most;          ///< the largest number of entries of a block
};

/// Appends a word.
static void push(struct stream *stream, uint32_t word) {
    stream->words = alloc_room(stream->words, &stream->room, stream->n + 1, sizeof word);
    stream->words[stream->n++] = word;
}

/// Begins an entry with so many stops. \return its number.
static uint32_t begin_entry(struct setup *s, struct stream *stream, int source, uint32_t stops) {
    if (stream->n == 0 || stream->words[stream->block] != (uint32_t)source) {
        stream->block = stream->n;
        push(stream, (uint32_t)source);
        push(stream, 0);
    }
    const uint32_t number = stream->words[stream->block + 1]++;
    push(stream, stops);
    if (number >= s->most) s->most = (uint64_t)number + 1;
    return number;
}

/// Compares stops by line and destination, for qsort().
static int by_line(const void *a, const void *b) {
    const struct stop *x = a, *y = b;
    if (x->line != y->line) return (x->line > y->line) - (x->line < y->line);
    return (x->destination > y->destination) - (x->destination < y->destination);
}

/// Finds the line in which a word first moves from hop `hop` on.
static uint32_t line_of(const struct fanout *f, int hop, int destination) {
    struct grid_step step = grid_next(&f->grid, &hop, destination);
    return (uint32_t)(f->base[hop] + step.place);
}

/// Divides the `n` stops of a spike of `source` by where it goes next, and tells the ranks there.
/// \return the number of branches, which stand in `branch` [n].
static size_t divide(struct setup *s, size_t n, int hop, int source, struct fanout_branch *branch) {
    const struct fanout *f = s->fanout;
    const uint32_t last = (uint32_t)f->base[f->grid.levels.n - 1];
    size_t branches = 0;
    for (size_t i = 0; i < n; i++) s->stops[i].line = line_of(f, hop, (int)s->stops[i].destination);
    if (n > 1) qsort(s->stops, n, sizeof *s->stops, by_line); // a rank may have no room for stops at all
    for (size_t i = 0, end; i < n; i = end) {
        const uint32_t line = s->stops[i].line;
        for (end = i + 1; end < n && line < last && s->stops[end].line == line;) end++;
        branch[branches] = (struct fanout_branch){line, s->stops[i].list};
        if (line < last) {
            struct stream *stream = &s->streams[line];
            branch[branches].number = begin_entry(s, stream, source, (uint32_t)(end - i));
            for (size_t k = i; k < end; k++) {
                push(stream, s->stops[k].destination);
                push(stream, s->stops[k].list);
            }
        }
        branches++;
    }
    return branches;
}

/// Returns the rank at a place of a line.
static int rank_at(const struct fanout *f, uint32_t line) {
    int hop = 0;
    while (line >= (uint32_t)f->base[hop + 1]) hop++;
    return grid_rank(&f->grid, grid_position_at(&f->grid, hop, (int)line - f->base[hop]));
}

/// Divides the routes of every neuron, and replaces them by what they lead to first.
static void divide_routes(struct setup *s, struct routes *routes) {
    const struct fanout *f = s->fanout;
    size_t kept = 0, most = 0;
    for (uint32_t i = 0; i < routes->neurons; i++) {
        const size_t n = routes->first[i + 1] - routes->first[i];
        most = n > most ? n : most;
    }
    struct fanout_branch *branch = ALLOC(struct fanout_branch, most);
    struct stop *stops = s->stops = alloc_room(s->stops, &s->room, most, sizeof *stops);
    for (uint32_t i = 0; i < routes->neurons; i++) {
        const size_t first = routes->first[i], n = routes->first[i + 1] - first;
        for (size_t k = 0; k < n; k++) {
            const struct route route = routes->route[first + k];
            stops[k] = (struct stop){0, (uint32_t)grid_position(&f->grid, route.rank), route.list};
        }
        const size_t branches = divide(s, n, 0, f->grid.own, branch);
        routes->first[i] = kept;
        for (size_t k = 0; k < branches; k++)
            routes->route[kept++] = (struct route){rank_at(f, branch[k].line), branch[k].number};
    }
    routes->first[routes->neurons] = kept;
    routes->route = alloc_less(routes->route, kept, sizeof *routes->route);
    free(branch);
}

/// Adds an entry to the table, with the stops that stand from `words` on.
static void add_entry(struct setup *s, const uint32_t *words, uint32_t n, int hop, int source) {
    struct fanout *f = s->fanout;
    f->start = alloc_room(f->start, &f->start_room, f->entries + 2, sizeof *f->start);
    f->branch = alloc_room(f->branch, &f->branch_room, f->branches + n, sizeof *f->branch);
    struct stop *stops = s->stops = alloc_room(s->stops, &s->room, n, sizeof *stops);
    for (uint32_t k = 0; k < n; k++) stops[k] = (struct stop){0, words[2 * k], words[2 * k + 1]};
    f->branches += divide(s, n, hop, source, f->branch + f->branches);
    f->start[++f->entries] = f->branches;
}

/// Takes the blocks of a rank of the line of hop `hop`.
static void take_blocks(struct setup *s, int hop, const uint32_t *words, size_t n) {
    struct fanout *f = s->fanout;
    for (size_t at = 0; at < n;) {
        const uint32_t source = words[at++], entries = words[at++];
        f->first[source] = (uint32_t)f->entries;
        f->count[source] = entries;
        for (uint32_t e = 0; e < entries; e++) {
            const uint32_t stops = words[at++];
            add_entry(s, words + at, stops, hop + 1, (int)source);
            at += 2 * (size_t)stops;
        }
    }
}

/// Tells the ranks of the line of a hop what will come to them. Collective.
static void tell(struct setup *s, int hop, MPI_Comm comm) {
    const struct fanout *f = s->fanout;
    const struct grid_line line = grid_line(&f->grid, grid_level(&f->grid, hop), 0);
    struct stream *streams = s->streams + f->base[hop];
    MPI_Comm ranks;
    MPI_Comm_split(comm, line.name, f->grid.own, &ranks);
    const size_t n = (size_t)line.ranks;
    int *count = ALLOC(int, 4 * n), *start = count + n, *got = start + n, *got_start = got + n;
    for (size_t i = 0; i < n; i++) count[i] = mpi_count(streams[i].n, "words for a bridge");
    uint32_t *told = ALLOC(uint32_t, mpi_starts(count, line.ranks, start, "words for bridges"));
    for (size_t i = 0; i < n; i++)
        if (count[i]) memcpy(told + start[i], streams[i].words, streams[i].n * sizeof *told);
    MPI_Alltoall(count, 1, MPI_INT, got, 1, MPI_INT, ranks);
    const size_t heard_words = mpi_starts(got, line.ranks, got_start, "words for a bridge");
    uint32_t *heard = ALLOC(uint32_t, heard_words);
    MPI_Alltoallv(told, count, start, MPI_UINT32_T, heard, got, got_start, MPI_UINT32_T, ranks);
    MPI_Comm_free(&ranks);
    FREE(told, count);
    take_blocks(s, hop, heard, heard_words);
    free(heard);
}

bool fanout_open(struct fanout *f, const struct levels *levels, MPI_Comm comm, int rank,
                 struct routes *routes, int ranks, struct error *error) {
    f->grid = grid_of(levels, ranks, rank);
    const int hops = f->grid.levels.n;
    for (int hop = 0; hop < hops; hop++)
        f->base[hop + 1] = f->base[hop] + grid_line(&f->grid, grid_level(&f->grid, hop), 0).ranks;
    f->first = ALLOC_ZERO(uint32_t, (size_t)ranks);
    f->count = ALLOC_ZERO(uint32_t, (size_t)ranks);
    f->start = ALLOC_ZERO(size_t, 1);
    f->start_room = 1;
    struct setup s = {.fanout = f, .streams = ALLOC_ZERO(struct stream, (size_t)f->base[hops])};
    divide_routes(&s, routes);
    for (int hop = 0; hop < hops - 1 && comm != MPI_COMM_NULL; hop++) tell(&s, hop, comm);
    f->start = alloc_less(f->start, f->entries + 1, sizeof *f->start);
    f->branch = alloc_less(f->branch, f->branches, sizeof *f->branch);
    for (int line = 0; line < f->base[hops]; line++) free(s.streams[line].words);
    FREE(s.streams, s.stops);
    const uint64_t limit = spike_lists_limit(f->format);
    if (s.most > limit)
        error_set(
            error,
            "exchange.merge: true, with %llu neurons of a rank that send through one bridge; expected at "
            "most %llu, whose numbers fit beside the step of a spike, so take more ranks or a shorter "
            "window",
            (unsigned long long)s.most, (unsigned long long)limit);
    return comm == MPI_COMM_NULL ? !error_stands(error) : agree(comm, error);
}

const struct fanout_branch *fanout_find(const struct fanout *f, int source, const uint32_t *words,
                                        const struct fanout_branch **end) {
    const uint32_t number = spike_list(f->format, words[f->wire->at]);
    if (number >= f->count[source]) return NULL;
    const size_t entry = (size_t)f->first[source] + number;
    *end = f->branch + f->start[entry + 1];
    return f->branch + f->start[entry];
}

size_t fanout_bytes(const struct fanout *f) {
    return 2 * (size_t)f->grid.ranks * sizeof *f->first + (f->entries + 1) * sizeof *f->start +
           f->branches * sizeof *f->branch;
}

void fanout_close(struct fanout *f) {
    FREE(f->first, f->count, f->start, f->branch);
}
