/// \file
/// Normal numbers, each drawn with one 32-bit word by the quantile of the distribution.
///
/// A tail is a probability in units of 2^-32, from 1/2 to 2^31. A table approximates the quantile by straight
/// pieces, 64 for each power of two, so it is as fine in the tails as in the middle (to 1e-4 standard
/// deviations). A draw costs one look-up, a product and a sum, and gives the same in any order and vector
/// width. A Box-Muller transform would need two words and the mathematical library, whose last bit differs
/// between machines.
///
/// Memory: 32 KiB for a table; all weights of a network share one.

#pragma once

#include <stdint.h>
#include <string.h>

/// Returns the x at which the standard normal distribution function is p <= 1/2.
double normal_quantile(double p);

/// Straight pieces for each power of two of the tail, and in all: tails of 32 bits have 32 powers. Twice as
/// many would leave a quarter of the error; with 64, the table is as large as a first-level cache.
enum { normal_parts = 64, normal_pieces = 32 * normal_parts };

/// The largest deviation that a table draws, in standard deviations. Less than 2^-33 lies beyond it.
static const double normal_furthest = 6.34;

/// The table: what a piece would be at 0, and its slope.
struct normal {
    struct normal_piece {
        double at_zero;     ///< standard deviations, where the piece would be at a tail of 0
        double slope;       ///< standard deviations for 2^-32 of tail; negative
    } piece[normal_pieces]; ///< by ascending tail
};

/// Makes a table, to be freed with free().
struct normal *normal_open(void);

/// Returns the deviation from the mean, above 0 and in standard deviations, beyond which the `tail` lies.
static inline double normal_deviation(const struct normal *normal, double tail) {
    uint64_t bits;
    memcpy(&bits, &tail, sizeof bits);
    // The exponent and the first six bits of the mantissa number the piece (2^6 parts for each power of two).
    // A double has its exponent from bit 52 on, so both together begin at bit 46; 1022 is the exponent of
    // 1/2, the smallest tail.
    const struct normal_piece *piece = &normal->piece[(bits >> 46) - ((uint64_t)1022 << 6)];
    return piece->at_zero + piece->slope * tail;
}
