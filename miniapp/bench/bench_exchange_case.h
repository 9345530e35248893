/// \file
/// One case of bench_exchange: an exchange, how much it moves to which ranks, and how late ranks are.

#ifndef BENCH_EXCHANGE_CASE_H
#define BENCH_EXCHANGE_CASE_H

#include "bench_exchange_options.h"
#include "transport/exchange.h"

/// A rank sends `bytes` to itself and to each of its targets; a broadcast sends to all ranks in any case.
struct bench_case {
    const struct exchange_backend *backend;
    uint32_t bytes; ///< from one rank to another
    const struct bench_targets *targets;
    double skew_us;
};

/// The times of one repetition in seconds. In each round all ranks spin for their skew, meet at a barrier,
/// and exchange. The time of a round is that of its slowest rank.
struct bench_times {
    uint32_t rounds;
    double barrier_s;       ///< median over the rounds; it includes the wait for the rank that is last
    double exchange_s;      ///< start to finish, median over the rounds
    double exchange_mean_s; ///< mean over the rounds
};

/// Writes "BACKEND/bytes:N/targets:WHICH/skew_us:X", as snprintf does.
void bench_case_name(const struct bench_case *c, char *name, size_t size);

/// Returns to how many other ranks a rank sends, which is the same on all; a broadcast sends to all.
int bench_case_partners(const struct bench_case *c, int ranks, uint32_t seed);

/// Opens the exchange, checks what a first round moves, and times rounds for at least `min_time_s`.
/// Collective over `world`.
/// \param draw tells the random skews of this repetition from those of others
/// \return false, with the same error on all ranks, if words got lost.
bool bench_case_time(const struct bench_case *c, MPI_Comm world, uint32_t seed, uint32_t draw,
                     double min_time_s, struct bench_times *times, struct error *error);

#endif
