#include "transport/exchange_check.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { windows = 12, burst = 300 };

/// Words that a window moves from one rank to another (`to` is 0 for a broadcast).
static uint32_t count_of(int from, int to, uint32_t window) {
    if (window % 4 == 0) return 0;
    if (window == windows / 2 || window == windows - 1) // beyond first buffers, half of the ranks at a time
        return (uint32_t)from % 2 == window % 2 ? burst : 1;
    return (uint32_t)(from * 5 + to * 3) * window % 7 + window % 2;
}

static uint32_t word_of(int from, int to, uint32_t window, uint32_t number) {
    return (((uint32_t)from * 31 + (uint32_t)to) * windows + window) * burst + number + 1;
}

static void fill(struct outbox *outbox, int rank, uint32_t window) {
    outbox_clear(outbox);
    for (int to = 0; to < outbox->ranks; to++)
        for (uint32_t i = 0; i < count_of(rank, to, window); i++)
            outbox_add(outbox, to, word_of(rank, to, window, i));
}

/// Did exactly the words of the window arrive?
static bool arrived(const struct exchange *exchange, uint32_t window) {
    const int to = exchange->spec.backend->broadcast ? 0 : exchange->rank;
    if (exchange->inbox.runs != exchange->ranks) return false;
    for (int from = 0; from < exchange->ranks; from++) {
        struct inbox_run run = exchange->inbox.run[from];
        if (run.count != count_of(from, to, window)) return false;
        for (uint32_t i = 0; i < run.count; i++)
            if (run.words[i] != word_of(from, to, window, i)) return false;
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
    struct exchange *exchange = exchange_open(spec, comm, &(struct partners){n, n, others, others});
    free(others);
    return exchange;
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
    outbox_open(&outbox, exchange_destinations(spec->backend, exchange->ranks), 8);
    int good = 1;
    for (uint32_t window = 0; good && window < windows; window++) {
        fill(&outbox, exchange->rank, window);
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
