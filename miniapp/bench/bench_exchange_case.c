#include "bench_exchange_case.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "measurement/clock.h"
#include "measurement/pause.h"
#include "transport/agree.h"
#include "transport/exchange_check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { warm_rounds = 3, most_rounds = 100000 };
enum { pattern_group = 0xffffffff }; // of random numbers; repetitions have those below

/// An open exchange with its full outbox.
struct setup {
    const struct bench_case *c;
    struct exchange *exchange;
    struct outbox outbox;
    bool *sends; ///< [ranks] does a rank send to the one so many further?
    uint32_t seed, draw;
};

void bench_case_name(const struct bench_case *c, char *name, size_t size) {
    snprintf(name, size, "%s/bytes:%u/targets:%s/skew_us:%g", c->backend->name, c->bytes, c->targets->name,
             c->skew_us);
}

/// Draws which ranks a rank sends to, by how many ranks further they are: the same number on every rank.
/// \return how many other ranks those are.
static int draw_targets(const struct bench_targets *targets, int ranks, uint32_t seed, bool *sends) {
    const int others = ranks - 1;
    int n = 0, wanted = others;
    if (strcmp(targets->name, "ring") == 0) wanted = others < 2 ? others : 2;
    if (targets->fraction > 0) {
        wanted = (int)lround(targets->fraction * others);
        if (wanted == 0 && others > 0) wanted = 1;
    }
    for (int shift = 0; shift < ranks; shift++) sends[shift] = shift == 0;
    for (int shift = 1; shift < ranks; shift++) {
        if (targets->fraction > 0) { // each of those left has the same chance
            struct rng_words drawn = rng_draw(seed, rng_inject, pattern_group, 0, (uint32_t)shift);
            sends[shift] =
                rng_below(drawn.word[0], drawn.word[1], (uint32_t)(ranks - shift)) < (uint32_t)(wanted - n);
        } else {
            sends[shift] = wanted == others || shift == 1 || shift == others;
        }
        n += sends[shift];
    }
    return n;
}

int bench_case_partners(const struct bench_case *c, int ranks, uint32_t seed) {
    bool *sends = ALLOC(bool, (size_t)ranks);
    int n = draw_targets(c->targets, ranks, seed, sends);
    free(sends);
    return c->backend->broadcast ? ranks - 1 : n;
}

static bool comes(const struct setup *s, int from, int to) {
    const int ranks = s->exchange->ranks;
    return s->c->backend->broadcast || s->sends[(to - from + ranks) % ranks];
}

static uint32_t word_of(int from, uint32_t number) {
    return (uint32_t)from * 2654435761U + number;
}

static void open_exchange(struct setup *s, MPI_Comm world) {
    int rank, ranks;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    s->sends = ALLOC(bool, (size_t)ranks);
    draw_targets(s->c->targets, ranks, s->seed, s->sends);
    int *targets = ALLOC(int, (size_t)ranks), *sources = ALLOC(int, (size_t)ranks);
    struct partners partners = {.targets = targets, .sources = sources};
    for (int other = 0; other < ranks; other++) {
        if (other == rank) continue;
        if (s->sends[(other - rank + ranks) % ranks]) targets[partners.n_targets++] = other;
        if (s->sends[(rank - other + ranks) % ranks]) sources[partners.n_sources++] = other;
    }
    const struct exchange_spec spec = exchange_plain(s->c->backend);
    s->exchange = exchange_open(&spec, world, &partners);
    free(targets);
    free(sources);

    const uint32_t words = s->c->bytes / sizeof(uint32_t);
    outbox_open(&s->outbox, exchange_destinations(s->c->backend, ranks));
    for (int to = 0; to < s->outbox.ranks; to++)
        for (uint32_t i = 0; i < words; i++)
            if (comes(s, rank, to)) outbox_add(&s->outbox, to, word_of(rank, i));
}

static void close_exchange(struct setup *s) {
    exchange_close(s->exchange);
    outbox_close(&s->outbox);
    free(s->sends);
}

static void round_untimed(struct setup *s) {
    exchange_start(s->exchange, &s->outbox);
    exchange_finish(s->exchange, &s->outbox);
}

/// Checks that exactly the words arrived that were sent. Collective.
static bool arrived(const struct setup *s, struct error *error) {
    const struct exchange *exchange = s->exchange;
    char name[128];
    bench_case_name(s->c, name, sizeof name);
    for (int from = 0; from < exchange->ranks; from++) {
        const struct inbox_run run = exchange->inbox.run[from];
        const size_t sent = comes(s, from, exchange->rank) ? s->c->bytes / sizeof(uint32_t) : 0;
        bool same = run.count == sent;
        for (uint32_t i = 0; same && i < run.count; i++) same = run.words[i] == word_of(from, i);
        if (!same)
            error_set(error, "%s: rank %d received %zu words from rank %d where %zu were sent, or others",
                      name, exchange->rank, run.count, from, sent);
    }
    return agree(exchange->comm, error);
}

/// Makes one round. `round` tells its random skew from that of others.
static void round_timed(struct setup *s, uint32_t round, double *barrier_s, double *exchange_s) {
    if (s->c->skew_us > 0) {
        struct rng_words drawn = rng_draw(s->seed, rng_inject, s->draw, (uint32_t)s->exchange->rank, round);
        pause_for(1e-6 * s->c->skew_us * rng_uniform(drawn.word[0]), false);
    }
    const double before = clock_now();
    MPI_Barrier(s->exchange->comm);
    const double met = clock_now();
    exchange_start(s->exchange, &s->outbox);
    exchange_finish(s->exchange, &s->outbox);
    *exchange_s = clock_now() - met;
    *barrier_s = met - before;
}

/// Returns how many rounds take `min_time_s`, as some untimed ones suggest. The number is the same on all
/// ranks.
static uint32_t count_rounds(struct setup *s, double min_time_s) {
    double barrier_s, exchange_s, taken_s = clock_now();
    for (uint32_t i = 0; i < warm_rounds; i++) round_timed(s, most_rounds + i, &barrier_s, &exchange_s);
    taken_s = clock_now() - taken_s;
    MPI_Allreduce(MPI_IN_PLACE, &taken_s, 1, MPI_DOUBLE, MPI_MAX, s->exchange->comm);
    const double wanted = ceil(min_time_s * warm_rounds / taken_s);
    return wanted < 1 ? 1 : wanted > most_rounds ? most_rounds : (uint32_t)wanted;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Returns the median. Sorts the values.
static double median(double *values, uint32_t n) {
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Summarises the times of the slowest rank in each round, on all ranks.
static struct bench_times summarise(double *barrier_s, double *exchange_s, uint32_t rounds, MPI_Comm comm) {
    struct bench_times times = {.rounds = rounds};
    MPI_Allreduce(MPI_IN_PLACE, barrier_s, (int)rounds, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, exchange_s, (int)rounds, MPI_DOUBLE, MPI_MAX, comm);
    for (uint32_t i = 0; i < rounds; i++) times.exchange_mean_s += exchange_s[i] / rounds;
    times.barrier_s = median(barrier_s, rounds);
    times.exchange_s = median(exchange_s, rounds);
    return times;
}

bool bench_case_time(const struct bench_case *c, MPI_Comm world, uint32_t seed, uint32_t draw,
                     double min_time_s, struct bench_times *times, struct error *error) {
    struct setup s = {.c = c, .seed = seed, .draw = draw};
    open_exchange(&s, world);
    round_untimed(&s);
    const bool good = arrived(&s, error);
    if (good) {
        const uint32_t rounds = count_rounds(&s, min_time_s);
        double *barrier_s = ALLOC(double, rounds), *exchange_s = ALLOC(double, rounds);
        for (uint32_t i = 0; i < rounds; i++) round_timed(&s, i, &barrier_s[i], &exchange_s[i]);
        *times = summarise(barrier_s, exchange_s, rounds, s.exchange->comm);
        free(barrier_s);
        free(exchange_s);
    }
    close_exchange(&s);
    return good;
}
