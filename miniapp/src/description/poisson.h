/// \file
/// Poisson numbers, each drawn with one 32-bit word: how many events from outside a neuron gets in a step.
///
/// The number of events is at least k if the word is below at_least[k - 1]. That entry is the probability P(N
/// >= k) in units of 2^-32, to the nearest of them. So each of these probabilities is right to 2^-33, and the
/// mean to that times their number. The tail ends where P(N >= k) rounds to 0.
///
/// Example, of a mean of 0.1: 9.5 % of the words are below at_least[0] and draw one event or more, 0.47 % are
/// below at_least[1] and draw two or more. Comparing with every entry needs no branch, so that a loop over
/// neurons becomes vector code (neuron/external.c).

#pragma once

#include <stdint.h>

/// The largest mean that is drawn, in events per step, and the most entries that its table needs: with a mean
/// of 100, P(N >= k) lies between 0 and 1 in units of 2^-32 for fewer than 160 values of k. A larger mean
/// would need more than 255 events in a step, which are kept in a byte (neuron/external.h).
enum { poisson_mean_max = 100, poisson_table_max = 160 };

/// Below this mean, rounding to 2^-32 would change the mean by more than 0.1 %.
static const double poisson_mean_min = 1.2e-7;

/// The table of a Poisson distribution.
struct poisson {
    uint32_t always;                      ///< events that every draw brings, since P(N >= always) rounds to 1
    uint32_t n;                           ///< entries of the table
    uint32_t at_least[poisson_table_max]; ///< probabilities of always + 1, always + 2, ... events, in 2^-32
};

/// Returns the table for `mean`, in events per step, which is 0 or lies between poisson_mean_min and
/// poisson_mean_max.
struct poisson poisson_open(double mean);

/// Returns the most events that a draw can bring, which is at most 255.
static inline uint32_t poisson_most(const struct poisson *poisson) {
    return poisson->always + poisson->n;
}
