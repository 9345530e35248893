/// \file
/// Two-level routing through bridge ranks (Du et al. 2023): a rank has about 2 sqrt(P) - 2 connections
/// instead of P - 1, and sends fewer and larger messages.
///
/// Ranks form groups of consecutive ranks; the last group may be smaller. Member j of each group belongs to
/// column j. Words for member j of another group first travel within the own group to its member j, the
/// bridge, and from there along column j. So there are two exchanges, `inner` within groups and `outer`
/// within columns, each of them any of the ordinary ones. Where the last group has s members, fewer than
/// there are columns, its member i sits in the columns i, i + s, i + 2s, …, with one outer exchange for each.
/// That means more connections there, but no word needs a third hop.
///
/// A run of words has a frame of two words: its destination and count in an inner exchange, its source and
/// count in an outer one.

#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { frame = 2 }; // words

/// One of the exchanges that this one is composed of.
struct part {
    struct exchange *exchange;
    struct outbox outbox;
};

struct two_level {
    struct exchange common;
    int group;   ///< ranks of a group, but for the last
    int members; ///< of this rank's group
    struct part inner;
    int seats;          ///< columns in which this rank sits
    struct part *outer; ///< [seats], columns ascending
};

static int group_size(int asked, int ranks) {
    int size = asked;
    if (size == 0)
        while (size * size < ranks) size++;
    return size < ranks ? size : ranks;
}

/// Returns how many ranks the group of `rank` has.
static int members_of(const struct two_level *x, int rank) {
    int rest = x->common.ranks - rank / x->group * x->group;
    return rest < x->group ? rest : x->group;
}

/// Returns the member of the own group through which words for `rank` go; a rank of the group is its own
/// bridge.
static int bridge_of(const struct two_level *x, int rank) {
    return rank % x->group % x->members;
}

/// Opens the exchange over `comm`, which it frees. `sends` [size of comm] says to whom this rank will send.
static void open_part(struct two_level *x, struct part *part, const struct exchange_backend *backend,
                      MPI_Comm comm, const int *sends) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int *targets = ALLOC(int, (size_t)ranks), *sources = ALLOC(int, (size_t)ranks);
    struct partners partners = {.targets = targets, .sources = sources};
    MPI_Alltoall(sends, 1, MPI_INT, sources, 1, MPI_INT, comm);
    for (int other = 0; other < ranks; other++) {
        if (other == rank) continue;
        if (sends[other]) targets[partners.n_targets++] = other;
        if (sources[other]) sources[partners.n_sources++] = other;
    }
    part->exchange = exchange_open(&(struct exchange_spec){.backend = backend}, comm, &partners);
    outbox_open(&part->outbox, ranks);
    x->common.connections += part->exchange->connections;
    MPI_Comm_free(&comm);
    free(targets);
    free(sources);
}

/// Opens the outer exchange of the column that this rank's seat number `seat` is in, if there is one;
/// collective. `asked` [ranks] says which ranks are targets of some member of the group.
static void open_column(struct two_level *x, int seat, int smallest, const int *asked) {
    const struct exchange *exchange = &x->common;
    const int ranks = exchange->ranks, member = exchange->rank % x->group;
    const int column = seat * smallest + member % smallest;
    const bool sits = x->members < x->group ? column < x->group : column == member;
    MPI_Comm comm;
    MPI_Comm_split(exchange->comm, sits ? column : MPI_UNDEFINED, exchange->rank, &comm);
    if (!sits) return;

    const int groups = (ranks + x->group - 1) / x->group;
    int *sends = ALLOC_ZERO(int, (size_t)groups);
    for (int group = 0; group < groups; group++) {
        int rank = group * x->group + column;
        sends[group] = group != exchange->rank / x->group && rank < ranks && asked[rank];
    }
    open_part(x, &x->outer[x->seats++], exchange->spec.outer, comm, sends);
    free(sends);
}

static void open(struct exchange *exchange) {
    struct two_level *x = (struct two_level *)exchange;
    const struct partners *partners = &exchange->partners;
    const int ranks = exchange->ranks;
    x->group = group_size(exchange->spec.group, ranks);
    x->members = members_of(x, exchange->rank);
    exchange->connections = 0;

    MPI_Comm group;
    MPI_Comm_split(exchange->comm, exchange->rank / x->group, exchange->rank, &group);
    int *asked = ALLOC_ZERO(int, (size_t)ranks), *bridges = ALLOC_ZERO(int, (size_t)x->members);
    for (int i = 0; i < partners->n_targets; i++) {
        asked[partners->targets[i]] = 1;
        bridges[bridge_of(x, partners->targets[i])] = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, asked, ranks, MPI_INT, MPI_MAX, group);
    open_part(x, &x->inner, exchange->spec.inner, group, bridges);

    const int smallest = members_of(x, ranks - 1), seats = (x->group + smallest - 1) / smallest;
    x->outer = ALLOC_ZERO(struct part, (size_t)seats);
    for (int seat = 0; seat < seats && x->group < ranks; seat++) open_column(x, seat, smallest, asked);
    free(asked);
    free(bridges);
}

static void append(struct outbox *outbox, int destination, uint32_t rank, struct inbox_run run) {
    outbox_add(outbox, destination, rank);
    outbox_add(outbox, destination, (uint32_t)run.count);
    outbox_append(outbox, destination, run.words, run.count);
}

/// Takes the first framed run off `from`. \return false at the end, or where data got lost.
static bool take(struct inbox_run *from, int ranks, uint32_t *rank, struct inbox_run *run) {
    if (from->count < frame) return false;
    *rank = from->words[0];
    *run = (struct inbox_run){from->words + frame, from->words[1]};
    if (*rank >= (uint32_t)ranks || run->count > from->count - frame) return false;
    *from = (struct inbox_run){run->words + run->count, from->count - frame - run->count};
    return true;
}

static void start(struct exchange *exchange, const struct outbox *outbox) {
    struct two_level *x = (struct two_level *)exchange;
    outbox_clear(&x->inner.outbox);
    for (int rank = 0; rank < exchange->ranks; rank++)
        if (outbox_count(outbox, rank))
            append(&x->inner.outbox, bridge_of(x, rank), (uint32_t)rank,
                   (struct inbox_run){outbox_words(outbox, rank), outbox_count(outbox, rank)});
    exchange_start(x->inner.exchange, &x->inner.outbox);
}

static void progress(struct exchange *exchange, const struct outbox *outbox) {
    struct two_level *x = (struct two_level *)exchange;
    (void)outbox;
    exchange_progress(x->inner.exchange, &x->inner.outbox);
}

/// Sorts what the members of the group have sent: own words go into the inbox, the others into the columns.
static void sort_inner(struct two_level *x) {
    struct exchange *exchange = &x->common;
    const struct inbox *inbox = &x->inner.exchange->inbox;
    const int first = exchange->rank / x->group * x->group;
    uint32_t rank;
    for (int member = 0; member < inbox->runs; member++)
        for (struct inbox_run from = inbox->run[member], run; take(&from, exchange->ranks, &rank, &run);) {
            int seat = (int)rank % x->group / x->members;
            if (rank == (uint32_t)exchange->rank)
                exchange->inbox.run[first + member] = run;
            else if (seat < x->seats)
                append(&x->outer[seat].outbox, (int)rank / x->group, (uint32_t)(first + member), run);
        }
}

static void take_traffic(struct two_level *x, struct exchange *part) {
    x->common.traffic.messages += part->traffic.messages;
    x->common.traffic.bytes += part->traffic.bytes;
    part->traffic = (struct traffic){0, 0};
}

static void finish(struct exchange *exchange, const struct outbox *outbox) {
    struct two_level *x = (struct two_level *)exchange;
    (void)outbox;
    memset(exchange->inbox.run, 0, (size_t)exchange->ranks * sizeof *exchange->inbox.run);
    for (int seat = 0; seat < x->seats; seat++) outbox_clear(&x->outer[seat].outbox);
    exchange_finish(x->inner.exchange, &x->inner.outbox);
    take_traffic(x, x->inner.exchange);
    sort_inner(x);

    for (int seat = 0; seat < x->seats; seat++)
        exchange_start(x->outer[seat].exchange, &x->outer[seat].outbox);
    for (int seat = 0; seat < x->seats;
         seat++) { // columns ascending on all ranks, so that none waits in a ring
        struct exchange *outer = x->outer[seat].exchange;
        uint32_t source;
        exchange_finish(outer, &x->outer[seat].outbox);
        take_traffic(x, outer);
        for (int group = 0; group < outer->ranks; group++)
            for (struct inbox_run from = outer->inbox.run[group], run;
                 take(&from, exchange->ranks, &source, &run);)
                exchange->inbox.run[source] = run;
    }
}

static size_t part_bytes(const struct part *part) {
    return exchange_bytes(part->exchange) + outbox_bytes(&part->outbox);
}

static size_t bytes(const struct exchange *exchange) {
    const struct two_level *x = (const struct two_level *)exchange;
    size_t sum = part_bytes(&x->inner);
    for (int seat = 0; seat < x->seats; seat++) sum += part_bytes(&x->outer[seat]);
    return sum;
}

static void close_part(struct part *part) {
    exchange_close(part->exchange);
    outbox_close(&part->outbox);
}

static void close(struct exchange *exchange) {
    struct two_level *x = (struct two_level *)exchange;
    close_part(&x->inner);
    for (int seat = 0; seat < x->seats; seat++) close_part(&x->outer[seat]);
    free(x->outer);
}

const struct exchange_backend exchange_two_level = {
    .name = "two_level",
    .summary = "within a group to a bridge rank, from there to the other group, by two other exchanges",
    .composed = true,
    .size = sizeof(struct two_level),
    .open = open,
    .start = start,
    .progress = progress,
    .finish = finish,
    .bytes = bytes,
    .close = close,
};
