#include "exchange_trial.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <unistd.h>

enum { ranks_most = 64 };

int world_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int world_ranks(void) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

bool serves(const struct exchange_backend *backend, int ranks) {
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks);
}

bool ordinary(const struct exchange_backend *backend, int ranks) {
    return serves(backend, ranks) && !backend->broadcast && !backend->composed;
}

bool everyone(int from, int to) {
    return from != to;
}

bool few(int from, int to) {
    return from != to && (from * from + 3 * to) % 7 < 2 && from % 4 != 3;
}

bool nobody(int from, int to) {
    return (void)from, (void)to, false;
}

uint32_t trial_words(int from, int to, uint32_t window) {
    if (window % 8 == 7 && from == (int)(window / 8) % world_ranks()) return 16 * window + (uint32_t)to;
    return (uint32_t)(from * 3 + to * 5) * (window + 1) % 4;
}

static struct exchange *open_exchange(struct exchange_spec spec, topology sends) {
    const int own = world_rank(), ranks = world_ranks();
    int targets[ranks_most], sources[ranks_most];
    struct partners partners = {.targets = targets, .sources = sources};
    assert_true(ranks <= ranks_most);
    for (int rank = 0; rank < ranks; rank++) {
        if (sends(own, rank)) targets[partners.n_targets++] = rank;
        if (sends(rank, own)) sources[partners.n_sources++] = rank;
    }
    MPI_Comm comm; // as lanes have it: without the attributes of MPI_COMM_WORLD
    MPI_Comm_split(MPI_COMM_WORLD, 0, own, &comm);
    struct exchange *exchange = exchange_open(&spec, comm, &partners);
    MPI_Comm_free(&comm);
    return exchange;
}

static uint32_t word_of(int from, int to, uint32_t window, uint32_t number) {
    return (uint32_t)from << 26 ^ (uint32_t)to << 20 ^ window << 12 ^ number;
}

static void fill(const struct exchange *exchange, struct outbox *outbox, topology sends, uint32_t window) {
    const int own = exchange->rank;
    outbox_clear(outbox);
    for (int to = 0; to < outbox->ranks; to++)
        if (exchange->spec.backend->broadcast || to == own || sends(own, to))
            for (uint32_t i = 0; i < trial_words(own, to, window); i++)
                outbox_add(outbox, to, word_of(own, to, window, i));
}

static void check_inbox(const struct exchange *exchange, topology sends, uint32_t window) {
    const bool broadcast = exchange->spec.backend->broadcast;
    const int own = exchange->rank, to = broadcast ? 0 : own;
    assert_int_equal(exchange->inbox.runs, exchange->ranks);
    for (int from = 0; from < exchange->ranks; from++) {
        struct inbox_run run = exchange->inbox.run[from];
        bool comes = broadcast || from == own || sends(from, own);
        assert_int_equal(run.count, comes ? trial_words(from, to, window) : 0);
        for (uint32_t i = 0; i < run.count; i++) assert_int_equal(run.words[i], word_of(from, to, window, i));
    }
}

/// Lets one rank in three wait, a different one each time.
static void dawdle(const struct exchange *exchange, uint32_t moment) {
    if (((uint32_t)exchange->rank + moment) % 3 == 0) usleep(300);
}

struct exchange trial(struct exchange_spec spec, topology sends, uint32_t windows, bool uneven_speed) {
    struct exchange *exchange = open_exchange(spec, sends);
    struct outbox outbox;
    outbox_open(&outbox, exchange_destinations(spec.backend, exchange->ranks));
    for (uint32_t window = 0; window < windows; window++) {
        fill(exchange, &outbox, sends, window);
        exchange_start(exchange, &outbox);
        exchange_progress(exchange, &outbox);
        if (uneven_speed) dawdle(exchange, window);
        exchange_finish(exchange, &outbox);
        outbox_clear(&outbox);
        if (uneven_speed) dawdle(exchange, window / 2);
        check_inbox(exchange, sends, window); // late, since others may have started the next window
    }
    const struct exchange end = *exchange;
    outbox_close(&outbox);
    exchange_close(exchange);
    return end;
}

static void complete(struct levels levels, int level, int rest, void (*check)(struct levels levels)) {
    if (level == levels.n - 1) {
        levels.size[level] = rest;
        check(levels);
        levels.receiver = true;
        if (levels.n > 1) check(levels);
        return;
    }
    for (int size = 1; size <= rest; size++) {
        levels.size[level] = size;
        if (rest % size == 0) complete(levels, level + 1, rest / size, check);
    }
}

void for_each_grid(int most, void (*check)(struct levels levels)) {
    for (int n = 1; n <= most; n++) complete((struct levels){.n = n}, 0, world_ranks(), check);
}
