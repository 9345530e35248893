#include "exchange_trial.h"
#include "transport/exchange_check.h"
#include "transport/wire.h"

#include <time.h>

bool serves(const struct exchange_backend *backend, int ranks) {
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks);
}

bool ordinary(const struct exchange_backend *backend, int ranks) {
    return serves(backend, ranks) && !backend->broadcast && !backend->composed;
}

struct exchange_spec plain_spec(const struct exchange_backend *backend) {
    struct exchange_spec spec = exchange_plain(backend);
    if (backend->composed) spec.levels.part[1] = exchange_find("p2p");
    if (backend->ragged) spec.levels.size[0] = 2;
    return spec;
}

bool every_pair(int from, int to, int ranks) {
    return (void)from, (void)to, (void)ranks, true;
}

bool nobody(int from, int to, int ranks) {
    return (void)from, (void)to, (void)ranks, false;
}

bool ring_neighbours(int from, int to, int ranks) {
    return to == (from + 1) % ranks || from == (to + 1) % ranks;
}

static bool one_to_all(int from, int to, int ranks) {
    return (void)to, from == ranks / 2;
}

static bool all_to_one(int from, int to, int ranks) {
    return (void)from, to == ranks / 2;
}

bool random_sparse(int from, int to, int ranks) {
    uint64_t mixed = (uint64_t)(from * ranks_max + to + ranks) * 0x9E3779B97F4A7C15u;
    return (mixed >> 33) % 3 == 0;
}

topology *const topologies[] = {every_pair,    ring_neighbours, one_to_all, all_to_one,
                                random_sparse, nobody,          NULL};

static uint32_t nothing(int from, int to, int ranks, uint32_t window) {
    return (void)from, (void)to, (void)ranks, (void)window, 0;
}

uint32_t uneven(int from, int to, int ranks, uint32_t window) {
    return (uint32_t)(from * 7 + to * 3 + ranks) * (window + 1) % 23;
}

static uint32_t one_sends_all(int from, int to, int ranks, uint32_t window) {
    return (void)to, from == (int)(window % (uint32_t)ranks) ? 40 : 0;
}

uint32_t bursts(int from, int to, int ranks, uint32_t window) {
    return window % 10 == 9 ? (window + 1) * 60 + (uint32_t)((from + to) % ranks)
                            : (uint32_t)(from * 3 + to * 5) * (window + 1) % 4;
}

pattern *const patterns[] = {nothing, uneven, one_sends_all, bursts, NULL};

void trial_open(struct trial *trial, struct exchange_spec spec, topology *linked, uint32_t key) {
    const int own = world_rank(), ranks = world_ranks();
    int targets[ranks_max], sources[ranks_max];
    struct partners partners = {.targets = targets, .sources = sources};
    assert_true(ranks <= ranks_max);
    for (int rank = 0; rank < ranks; rank++) {
        if (rank != own && linked(own, rank, ranks)) targets[partners.n_targets++] = rank;
        if (rank != own && linked(rank, own, ranks)) sources[partners.n_sources++] = rank;
    }
    *trial = (struct trial){.linked = linked, .key = key};
    MPI_Comm comm; // as lanes have it: without the attributes of MPI_COMM_WORLD
    MPI_Comm_split(MPI_COMM_WORLD, 0, own, &comm);
    trial->exchange = exchange_open(&spec, comm, &partners);
    MPI_Comm_free(&comm);
    send_buffer_open(&trial->send_buffer, exchange_destinations(spec.backend, ranks));
}

uint64_t trial_close(struct trial *trial) {
    exchange_close(trial->exchange);
    send_buffer_close(&trial->send_buffer);
    MPI_Allreduce(MPI_IN_PLACE, &trial->faults, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return trial->faults;
}

static uint32_t word_of(const struct trial *trial, int from, int to, uint32_t window, uint32_t number) {
    return ((uint32_t)from << 24 ^ (uint32_t)to << 18 ^ window << 8 ^ number) + trial->key;
}

/// Returns the words for a destination of the send buffer; the only one of a broadcast is number 0.
static uint32_t count_of(const struct trial *trial, pattern *count, int from, int to, uint32_t window) {
    const struct exchange *exchange = trial->exchange;
    bool linked = exchange->spec.backend->broadcast || from == to || trial->linked(from, to, exchange->ranks);
    return linked ? count(from, to, exchange->ranks, window) : 0;
}

void trial_start(struct trial *trial, pattern *count, uint32_t window) {
    struct exchange *exchange = trial->exchange;
    send_buffer_clear(&trial->send_buffer);
    for (int to = 0; to < trial->send_buffer.destinations; to++) {
        uint32_t n = count_of(trial, count, exchange->rank, to, window);
        for (uint32_t i = 0; i < n; i++)
            send_buffer_add(&trial->send_buffer, to, word_of(trial, exchange->rank, to, window, i));
        if (exchange->spec.backend->broadcast)
            trial->others += (uint64_t)(exchange->ranks - 1) * n;
        else if (to != exchange->rank)
            trial->others += n;
    }
    exchange_start(exchange, &trial->send_buffer);
}

/// Returns the run of a rank, an empty one where it sent nothing.
static struct receive_buffer_run run_from(const struct receive_buffer *receive_buffer, int rank) {
    for (int i = 0; i < receive_buffer->runs; i++)
        if (receive_buffer->run[i].from == rank) return receive_buffer->run[i];
    return (struct receive_buffer_run){.from = rank};
}

void trial_finish(struct trial *trial, pattern *count, uint32_t window) {
    struct exchange *exchange = trial->exchange;
    struct send_buffer *send_buffer = &trial->send_buffer;
    exchange_finish(exchange, send_buffer);
    // The receive buffer must not need the send buffer any more.
    memset(send_buffer->words, 0xA5, send_buffer->capacity * sizeof *send_buffer->words);
    size_t words = 0;
    for (int i = 0; i < exchange->receive_buffer.runs; i++) words += exchange->receive_buffer.run[i].count;
    trial->faults += words != exchange->receive_buffer.words;
    for (int from = 0; from < exchange->ranks; from++) {
        int to = exchange->spec.backend->broadcast ? 0 : exchange->rank;
        struct receive_buffer_run run = run_from(&exchange->receive_buffer, from);
        if (run.count != count_of(trial, count, from, to, window)) {
            trial->faults++;
            continue;
        }
        for (uint32_t i = 0; i < run.count; i++)
            trial->faults += run.words[i] != word_of(trial, from, to, window, i);
    }
}

void trial_window(struct trial *trial, pattern *count, uint32_t window) {
    trial_start(trial, count, window);
    trial_finish(trial, count, window);
}

void be_late(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    if (*random >> 62 == 0) nanosleep(&(struct timespec){0, (long)(*random >> 33) % 500000}, NULL);
}

struct exchange try_exchange(struct exchange_spec spec, topology *linked, uint32_t windows,
                             bool uneven_speed) {
    struct trial trial;
    uint64_t random = (uint64_t)world_rank() * 0x9E3779B97F4A7C15u;
    trial_open(&trial, spec, linked, 0);
    for (uint32_t window = 0; window < windows; window++) {
        trial_start(&trial, bursts, window);
        exchange_progress(trial.exchange, &trial.send_buffer);
        if (uneven_speed) be_late(&random);
        trial_finish(&trial, bursts, window);
    }
    const struct exchange end = *trial.exchange;
    const uint64_t faults = trial_close(&trial);
    if (faults) fail_msg("%s: %llu faults", spec.backend->name, (unsigned long long)faults);
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
