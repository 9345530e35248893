#include "transport/exchange_check.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { windows = 14, first_windows = 5, burst = 300 };

/// Returns how many words a window moves from one rank to another; from a broadcast, all ranks get the same.
/// The first windows fit into any first buffer, so that no rank has to ask the others for room through the
/// very exchange that is being tested. Later windows are uneven, and two have bursts, each from half of the
/// ranks.
static uint32_t count_of(const struct exchange *exchange, int from, int to, uint32_t window) {
    const bool broadcast = exchange->spec.backend->broadcast;
    if (broadcast) to = 0;
    if (window % 5 == 0) return 0;
    if (window < first_windows) return broadcast || to == (from + (int)window) % exchange->ranks ? window : 0;
    if (window == 8 || window == 11) return (uint32_t)from % 2 == window % 2 ? burst : 1;
    return (uint32_t)(from * 5 + to * 3) * window % 7;
}

/// Returns a word of a window. It is a small number in the first windows: a receiver that reads in the wrong
/// place and takes it for a count does not ask for room either.
static uint32_t word_of(const struct exchange *exchange, int from, int to, uint32_t window, uint32_t number) {
    if (exchange->spec.backend->broadcast) to = 0;
    uint32_t word = (((uint32_t)from * 31 + (uint32_t)to) * windows + window) * burst + number;
    return 1 + (window < first_windows ? word % 13 : word);
}

static void fill(struct outbox *outbox, const struct exchange *exchange, uint32_t window) {
    outbox_clear(outbox);
    for (int to = 0; to < outbox->ranks; to++)
        for (uint32_t i = 0; i < count_of(exchange, exchange->rank, to, window); i++)
            outbox_add(outbox, to, word_of(exchange, exchange->rank, to, window, i));
}

/// Says whether exactly the words of the window have arrived.
static bool arrived(const struct exchange *exchange, uint32_t window) {
    if (exchange->inbox.runs != exchange->ranks) return false;
    for (int from = 0; from < exchange->ranks; from++) {
        struct inbox_run run = exchange->inbox.run[from];
        if (run.count != count_of(exchange, from, exchange->rank, window)) return false;
        for (uint32_t i = 0; i < run.count; i++)
            if (run.words[i] != word_of(exchange, from, exchange->rank, window, i)) return false;
    }
    return true;
}

static struct exchange *open_between_all(const struct exchange_spec *spec, MPI_Comm comm) {
    int own, ranks, n = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    int *others = ALLOC(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++)
        if (rank != own) others[n++] = rank;
    struct exchange *exchange = exchange_open(spec, comm, &(struct partners){n, n, others, others, NULL});
    free(others);
    return exchange;
}

struct exchange_spec exchange_plain(const struct exchange_backend *backend) {
    const struct exchange_backend *part = exchange_find("alltoallv");
    struct exchange_spec spec = {.backend = backend};
    if (backend->composed)
        spec.levels = (struct levels){.n = 2, .part = {part, part}, .ragged = backend->ragged};
    return spec;
}

static bool refuse(const struct exchange_spec *spec, struct error *error) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    for (char *c = library; *c; c++)
        if (*c == '\t') *c = ' ';
    return error_set(error,
                     "exchange: \"%s\" lost data in the self-test with %.200s; allowed: another exchange, or "
                     "another MPI library",
                     spec->backend->name, library);
}

bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error) {
    struct exchange *exchange = open_between_all(spec, comm);
    struct outbox outbox;
    outbox_open(&outbox, exchange_destinations(spec->backend, exchange->ranks));
    int good = 1;
    for (uint32_t window = 0; good && window < windows; window++) {
        fill(&outbox, exchange, window);
        exchange_start(exchange, &outbox);
        exchange_progress(exchange, &outbox);
        exchange_finish(exchange, &outbox);
        good = arrived(exchange, window);
        MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
    }
    outbox_close(&outbox);
    exchange_close(exchange);
    return good || refuse(spec, error);
}
