#include "transport/exchange.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/// The names of all back-ends, each of which is exchange_NAME.
// clang-format off
#define EXCHANGES(E)                                                                                         \
    E(self) E(alltoall) E(alltoallv) E(ialltoallv) E(persistent) E(neighbor) E(ineighbor) E(p2p) E(direct)   \
    E(sparse) E(allgather) E(allgatherv) E(rma_doubling) E(rma_bruck) E(rma_put) E(shared) E(two_level)      \
    E(multi_level)
// clang-format on
#define EXCHANGE_DECLARE(name) extern const struct exchange_backend exchange_##name;
#define EXCHANGE_ADDRESS(name) &exchange_##name,

EXCHANGES(EXCHANGE_DECLARE)
const struct exchange_backend *const exchange_backends[] = {EXCHANGES(EXCHANGE_ADDRESS) NULL};

struct exchange *exchange_open(const struct exchange_spec *spec, MPI_Comm comm,
                               const struct partners *partners) {
    struct exchange *exchange = alloc_zero(1, spec->backend->size);
    exchange->spec = *spec;
    exchange->partners = *partners;
    MPI_Comm_dup(comm, &exchange->comm);
    MPI_Comm_rank(comm, &exchange->rank);
    MPI_Comm_size(comm, &exchange->ranks);
    inbox_open(&exchange->inbox, spec->backend->broadcast ? exchange->ranks : partners->n_sources + 1);
    exchange->connections = exchange->ranks - 1;
    if (spec->backend->open) spec->backend->open(exchange);
    exchange->partners = (struct partners){0};
    return exchange;
}

size_t exchange_bytes(const struct exchange *exchange) {
    return exchange->spec.backend->bytes(exchange) + inbox_bytes(&exchange->inbox);
}

void exchange_start(struct exchange *exchange, const struct outbox *outbox) {
    inbox_clear(&exchange->inbox);
    if (exchange->spec.backend->start) exchange->spec.backend->start(exchange, outbox);
}

void exchange_progress(struct exchange *exchange, const struct outbox *outbox) {
    if (exchange->spec.backend->progress) exchange->spec.backend->progress(exchange, outbox);
}

void exchange_finish(struct exchange *exchange, const struct outbox *outbox) {
    exchange->spec.backend->finish(exchange, outbox);
}

void exchange_close(struct exchange *exchange) {
    if (exchange->spec.backend->close) exchange->spec.backend->close(exchange);
    MPI_Comm_free(&exchange->comm);
    inbox_close(&exchange->inbox);
    free(exchange);
}

enum { windows = 14, first_windows = 5, burst = 300, small_burst = 20, few_ranks = 64 };

static int ascending(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/// Returns how many words a window moves from one rank to another; from a broadcast, all ranks get the same.
/// Others only send to the ranks 1, 2, 4, ... further on (modulo the ranks), so that a large run neither
/// connects all its ranks nor fills memory for all of them.
/// The first windows fit into any first buffer, so that no rank has to ask the others for room through the
/// very exchange that is being tested. Later windows are uneven, and two have bursts, each from half of the
/// ranks: small ones where many ranks each have a buffer of that size.
static uint32_t count_of(const struct exchange *exchange, int from, int to, uint32_t window) {
    const struct exchange_backend *backend = exchange->spec.backend;
    const int shift = (to - from + exchange->ranks) % exchange->ranks;
    if (backend->broadcast)
        to = 0;
    else if (shift & (shift - 1))
        return 0;
    if (window % 5 == 0) return 0;
    if (window < first_windows)
        return backend->broadcast || to == (from + (1 << window) / 2) % exchange->ranks ? window : 0;
    if (window == 8 || window == 11) {
        const bool small = backend->rank_bytes > 0 && exchange->ranks > few_ranks;
        return (uint32_t)from % 2 == window % 2 ? (small ? small_burst : burst) : 1;
    }
    return (uint32_t)(from * 5 + to * 3) * window % 7;
}

/// Returns a word of a window. It is a small number in the first windows: a receiver that reads in the wrong
/// place and takes it for a count does not ask for room either.
static uint32_t word_of(const struct exchange *exchange, int from, int to, uint32_t window, uint32_t number) {
    if (exchange->spec.backend->broadcast) to = 0;
    uint32_t word = (((uint32_t)from * 31 + (uint32_t)to) * windows + window) * burst + number;
    return 1 + (window < first_windows ? word % 13 : word);
}

/// Says whether exactly the words of the window have arrived: those of each run, and no fewer in all.
static bool arrived(const struct exchange *exchange, uint32_t window) {
    size_t words = 0, sent = 0;
    for (int i = 0; i < exchange->inbox.runs; i++) {
        const struct inbox_run run = exchange->inbox.run[i];
        words += run.count;
        if (run.count != count_of(exchange, run.from, exchange->rank, window)) return false;
        for (uint32_t k = 0; k < run.count; k++)
            if (run.words[k] != word_of(exchange, run.from, exchange->rank, window, k)) return false;
    }
    for (int from = 0; from < exchange->ranks; from++)
        sent += count_of(exchange, from, exchange->rank, window);
    return words == sent;
}

/// Opens the exchange between partners, and the outbox to them and to the own rank.
static struct exchange *open_between_partners(const struct exchange_spec *spec, MPI_Comm comm,
                                              struct outbox *outbox) {
    enum { shifts_most = 32 };
    int n = 0, targets[shifts_most + 1], sources[shifts_most];
    const int own = comm_rank(comm), ranks = comm_size(comm);
    for (long long shift = 1; shift < ranks; shift *= 2, n++) {
        targets[n] = (int)((own + shift) % ranks);
        sources[n] = (int)((own - shift + ranks) % ranks);
    }
    qsort(targets, (size_t)n, sizeof *targets, ascending);
    qsort(sources, (size_t)n, sizeof *sources, ascending);
    struct exchange *exchange = exchange_open(spec, comm, &(struct partners){n, n, targets, sources, NULL});
    targets[n] = own;
    if (spec->backend->broadcast)
        outbox_open(outbox, 1);
    else
        outbox_open_some(outbox, ranks, targets, n + 1);
    return exchange;
}

struct exchange_spec exchange_plain(const struct exchange_backend *backend) {
    const struct exchange_backend *part = exchange_find("alltoallv");
    struct exchange_spec spec = {.backend = backend};
    if (backend->composed)
        spec.levels = (struct levels){.n = 2, .part = {part, part}, .ragged = backend->ragged};
    return spec;
}

bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error) {
    struct outbox outbox;
    struct exchange *exchange = open_between_partners(spec, comm, &outbox);
    int good = 1;
    for (uint32_t window = 0; good && window < windows; window++) {
        outbox_clear(&outbox);
        for (int i = 0; i < outbox.n_to; i++)
            for (uint32_t k = 0; k < count_of(exchange, exchange->rank, outbox.to[i], window); k++)
                outbox_add(&outbox, outbox.to[i], word_of(exchange, exchange->rank, outbox.to[i], window, k));
        exchange_start(exchange, &outbox);
        exchange_progress(exchange, &outbox);
        exchange_finish(exchange, &outbox);
        good = arrived(exchange, window);
        MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
    }
    outbox_close(&outbox);
    exchange_close(exchange);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    return good || error_set(error,
                             "exchange: \"%s\" lost data in the self-test with %.200s; expected another "
                             "exchange, or another MPI library",
                             spec->backend->name, library);
}

// -------------------- agree

bool agree(MPI_Comm comm, struct error *error) {
    int first;
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    int mine = error_stands(error) ? rank : ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first < ranks) MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, first, comm);
    return first == ranks;
}

// -------------------- wire

const struct wire_format *const wire_formats[] = {
    ENTRY(wire_format, "compact", "4 bytes a spike: list at the receiver and step within the window", 1, 0),
    ENTRY(wire_format, "aer12",
          "12 bytes a spike, as DPSNN's address events: neuron, step, and the word of compact", 3, 2),
    NULL};
