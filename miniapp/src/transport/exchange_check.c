/// \file
/// Sends known words through an exchange, window by window, and compares what arrives: empty windows,
/// small ones, uneven ones and bursts. Takes some milliseconds on few ranks.
///
/// MPI libraries have lost data (exchange/rma_memory.c of the variants names cases). A run that loses spikes
/// would still look like a run. So every lane tests its exchange on its own ranks before the network is built
/// (lane_connect()), and a run that fails ends with the name of the library. count_of() and word_of() say
/// what each window moves; sender and receiver compute the same.

#include "transport/exchange_check.h"

#include "transport/communicator.h"
#include <stdlib.h>
#include <string.h>

/// Windows that are tried, and those at the beginning that need no more room than a back-end has at first.
enum { windows = 14, first_windows = 5 };

/// Words of a burst, beyond the first room of any back-end (14 to 64 words); a smaller one, beyond 15, where
/// buffers for all of more than 64 ranks would grow by it: 1024 ranks would take 1.2 MB each way.
enum { burst = 300, small_burst = 20, few_ranks = 64 };

/// Compares ranks, for qsort().
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
    if (exchange->receive_buffer.damaged) return false;
    for (int i = 0; i < exchange->receive_buffer.runs; i++) {
        const struct receive_buffer_run run = exchange->receive_buffer.run[i];
        words += run.count;
        if (run.count != count_of(exchange, run.from, exchange->rank, window)) return false;
        for (uint32_t k = 0; k < run.count; k++)
            if (run.words[k] != word_of(exchange, run.from, exchange->rank, window, k)) return false;
    }
    for (int from = 0; from < exchange->ranks; from++)
        sent += count_of(exchange, from, exchange->rank, window);
    return words == sent;
}

/// Opens the exchange between partners, and the send buffer to them and to the own rank.
static struct exchange *open_between_partners(const struct exchange_spec *spec, MPI_Comm comm,
                                              struct send_buffer *send_buffer) {
    enum { shifts_most = 32 };
    int n = 0, targets[shifts_most + 1], sources[shifts_most];
    const int own = comm_rank(comm), ranks = comm_size(comm);
    // Partners are 1, 2, 4, ... ranks further on, and so many ranks before.
    for (long long shift = 1; shift < ranks; shift *= 2, n++) {
        targets[n] = (int)((own + shift) % ranks);
        sources[n] = (int)((own - shift + ranks) % ranks);
    }
    qsort(targets, (size_t)n, sizeof *targets, ascending);
    qsort(sources, (size_t)n, sizeof *sources, ascending);
    struct exchange *exchange = exchange_open(spec, comm, &(struct partners){n, n, targets, sources, NULL});
    targets[n] = own;
    if (spec->backend->broadcast)
        send_buffer_open(send_buffer, 1);
    else
        send_buffer_open_some(send_buffer, ranks, targets, n + 1);
    return exchange;
}

struct exchange_spec exchange_plain(const struct exchange_backend *backend) {
    const struct exchange_backend *part = exchange_find("alltoallv");
    // A composed one is given two levels of a plain exchange.
    struct exchange_spec spec = {.backend = backend};
    if (backend->composed)
        spec.levels = (struct levels){.n = 2, .part = {part, part}, .ragged = backend->ragged};
    return spec;
}

bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error) {
    struct send_buffer send_buffer;
    struct exchange *exchange = open_between_partners(spec, comm, &send_buffer);
    int good = 1;
    for (uint32_t window = 0; good && window < windows; window++) {
        send_buffer_clear(&send_buffer);
        // What this rank sends in the window.
        for (int i = 0; i < send_buffer.n_reachable; i++)
            for (uint32_t k = 0; k < count_of(exchange, exchange->rank, send_buffer.reachable[i], window);
                 k++)
                send_buffer_add(&send_buffer, send_buffer.reachable[i],
                                word_of(exchange, exchange->rank, send_buffer.reachable[i], window, k));
        // The three calls of a lane.
        exchange_start(exchange, &send_buffer);
        exchange_progress(exchange, &send_buffer);
        exchange_finish(exchange, &send_buffer);
        good = arrived(exchange, window);
        // All ranks stop alike.
        MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
    }
    send_buffer_close(&send_buffer);
    exchange_close(exchange);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    // The error names the library, since its exchange is what failed.
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    return good || error_set(error,
                             "exchange: \"%s\" lost data in the self-test with %.200s; expected another "
                             "exchange, or another MPI library",
                             spec->backend->name, library);
}

void exchange_check_node(const struct exchange_backend *backend, const char *lane, MPI_Comm comm,
                         struct error *error) {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (comm_size(node) < comm_size(comm))
        error_set(error,
                  "exchange: \"%s\" for lane %s, between ranks of several nodes; expected another exchange",
                  backend->name, lane);
    MPI_Comm_free(&node);
}
