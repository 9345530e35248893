/// \file
/// The memory of an exchange follows the partners of a rank. For every other rank it holds no more than its
/// back-end declares (rank_bytes), which --explain adds up.

#include "exchange_trial.h"

enum { windows = 10, words_to_each = 5 };

/// What an exchange on so many ranks takes on this one, each of which has its neighbours in a ring as
/// partners.
struct taken {
    size_t opened, used; ///< bytes: when it was opened, and after some windows
    size_t send_buffer;  ///< of the words, without the places
};

static void exchange_window(struct exchange *exchange, struct send_buffer *send_buffer) {
    const int own = exchange->rank, ranks = exchange->ranks;
    send_buffer_clear(send_buffer);
    for (int to = 0; to < send_buffer->destinations; to++)
        for (int i = 0; i < words_to_each; i++)
            if (send_buffer->destinations == 1 || to == own || ring_neighbours(own, to, ranks))
                send_buffer_add(send_buffer, to, 1);
    exchange_start(exchange, send_buffer);
    exchange_finish(exchange, send_buffer);
}

static struct taken take(const struct exchange_backend *backend, int ranks) {
    struct taken taken = {0};
    int own = world_rank(), targets[ranks_max], n = 0;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, own < ranks ? 0 : MPI_UNDEFINED, own, &comm);
    if (own >= ranks) return taken;
    for (int rank = 0; rank < ranks; rank++)
        if (rank != own && ring_neighbours(own, rank, ranks)) targets[n++] = rank;
    const struct exchange_spec spec = plain_spec(backend);
    struct exchange *exchange = exchange_open(&spec, comm, &(struct partners){n, n, targets, targets, NULL});
    struct send_buffer send_buffer;
    send_buffer_open(&send_buffer, exchange_destinations(backend, ranks));
    taken.opened = backend->bytes(exchange);
    for (int window = 0; window < windows; window++) exchange_window(exchange, &send_buffer);
    taken.used = backend->bytes(exchange);
    taken.send_buffer = send_buffer_bytes(&send_buffer) -
                        (size_t)send_buffer.destinations * (send_buffer_place_bytes + sizeof(int));
    send_buffer_close(&send_buffer);
    exchange_close(exchange);
    MPI_Comm_free(&comm);
    return taken;
}

/// Returns the bytes that a back-end may hold for each further rank.
static size_t may_hold(const struct exchange_backend *backend) {
    const size_t place = send_buffer_place_bytes + sizeof(struct receive_buffer_run);
    if (!backend->composed) return backend->rank_bytes;
    return place + exchange_find("alltoallv")->rank_bytes; // of its parts, which have fewer ranks
}

/// Compares what an exchange takes on half of the ranks and on all. \return the faults; tests judge the sum
/// of all ranks, since a rank that stopped alone would leave the others waiting.
static int compare(const char *name, size_t few, size_t many, size_t most, bool exact) {
    if (many >= few && many - few <= most && (!exact || many - few == most)) return 0;
    print_message("%s: %zu bytes on half of the ranks, %zu on all, %s%zu more expected\n", name, few, many,
                  exact ? "" : "at most ", most);
    return 1;
}

static int faults_of(const struct exchange_backend *backend, int own, int ranks) {
    const struct taken few = take(backend, ranks / 2), many = take(backend, ranks);
    const size_t most = may_hold(backend) * (size_t)(ranks - ranks / 2);
    if (own >= ranks / 2) return 0;
    // Memory that ranks share begins on cache lines. Everybody gets the words of a broadcast.
    int faults =
        compare(backend->name, few.opened, many.opened, most, !backend->one_node && !backend->composed);
    if (!backend->broadcast) faults += compare(backend->name, few.used, many.used, most, false);
    return faults + compare("send_buffer", few.send_buffer, many.send_buffer, 0, true);
}

TEST(memory_follows_the_partners) {
    int own = world_rank(), ranks = world_ranks(), faults = 0;
    for (int x = 0; exchange_backends[x]; x++)
        if (!exchange_backends[x]->absent && !exchange_backends[x]->ranks_max)
            faults += faults_of(exchange_backends[x], own, ranks);
    MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(faults, 0);
}

TESTS_NEED_MPI
