/// \file
/// Poisson numbers, each drawn with one 32-bit word.
///
/// The number of events is at least k if the word is below at_least[k - 1]. That entry is the probability P(N
/// >= k) in units of 2^-32, to the nearest of them. So each of these probabilities is right to 2^-33, and the
/// mean to that times their number. The tail ends where P(N >= k) rounds to 0.

#ifndef DESCRIPTION_POISSON_H
#define DESCRIPTION_POISSON_H

#include <stdbool.h>
#include <stdint.h>

enum { poisson_mean_max = 100, poisson_table_max = 160 };

/// Below this mean, rounding to 2^-32 would change the mean by more than 0.1 %.
static const double poisson_mean_min = 1.2e-7;

struct poisson {
    uint32_t always;                      ///< events that every draw brings, since P(N >= always) rounds to 1
    uint32_t n;                           ///< length of the table
    uint32_t at_least[poisson_table_max]; ///< probabilities of always + 1, always + 2, ... events, in 2^-32
};

/// Returns the table for `mean`, which is 0 or lies between poisson_mean_min and poisson_mean_max.
struct poisson poisson_open(double mean);

/// Returns the most events that a draw can bring, which is at most 255.
static inline uint32_t poisson_most(const struct poisson *poisson) {
    return poisson->always + poisson->n;
}

static inline uint32_t poisson_draw(const struct poisson *poisson, uint32_t word) {
    uint32_t events = poisson->always;
    for (uint32_t k = 0; k < poisson->n; k++) events += word < poisson->at_least[k];
    return events;
}

#endif
