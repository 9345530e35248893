/// \file
/// The memory of an exchange follows the partners of a rank. For every other rank it holds no more than its
/// back-end declares (rank_bytes), which --explain adds up.

#include "exchange_trial.h"

enum { windows = 10, words_to_each = 5 };

/// What an exchange on so many ranks takes on this one, each of which has its neighbours in a ring as
/// partners.
struct taken {
    size_t opened, used; ///< bytes: when it was opened, and after some windows
    size_t outbox;       ///< of the words, without the places
};

static void exchange_window(struct exchange *exchange, struct outbox *outbox) {
    const int own = exchange->rank, ranks = exchange->ranks;
    outbox_clear(outbox);
    for (int to = 0; to < outbox->ranks; to++)
        for (int i = 0; i < words_to_each; i++)
            if (outbox->ranks == 1 || to == own || ring_neighbours(own, to, ranks)) outbox_add(outbox, to, 1);
    exchange_start(exchange, outbox);
    exchange_finish(exchange, outbox);
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
    struct outbox outbox;
    outbox_open(&outbox, exchange_destinations(backend, ranks));
    taken.opened = backend->bytes(exchange);
    for (int window = 0; window < windows; window++) exchange_window(exchange, &outbox);
    taken.used = backend->bytes(exchange);
    taken.outbox = outbox_bytes(&outbox) - (size_t)outbox.ranks * (outbox_place_bytes + sizeof(int));
    outbox_close(&outbox);
    exchange_close(exchange);
    MPI_Comm_free(&comm);
    return taken;
}

/// Returns the bytes that a back-end may hold for each further rank.
static size_t may_hold(const struct exchange_backend *backend) {
    const size_t place = outbox_place_bytes + sizeof(struct inbox_run);
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
    return faults + compare("outbox", few.outbox, many.outbox, 0, true);
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
