/// \file
/// Normal numbers, each drawn with one 32-bit word by the quantile of the distribution.
///
/// A tail is a probability in units of 2^-32, from 1/2 to 2^31. A table approximates the quantile by straight
/// pieces, 64 for each power of two, so it is as fine in the tails as in the middle (to 1e-4 standard
/// deviations). A draw costs one look-up, a product and a sum, and gives the same in any order and vector
/// width.

#ifndef DESCRIPTION_NORMAL_H
#define DESCRIPTION_NORMAL_H

#include <stdint.h>
#include <string.h>

/// Returns the x at which the standard normal distribution function is p <= 1/2.
double normal_quantile(double p);

enum { normal_parts = 64, normal_pieces = 32 * normal_parts };

/// The largest deviation that a table draws, in standard deviations. Less than 2^-33 lies beyond it.
static const double normal_furthest = 6.34;

struct normal {
    struct normal_piece {
        double at_zero, slope;
    } piece[normal_pieces];
};

/// Returns a new table. Free it with free().
struct normal *normal_open(void);

/// Returns the deviation from the mean, above 0 and in standard deviations, beyond which the `tail` lies.
static inline double normal_deviation(const struct normal *normal, double tail) {
    uint64_t bits;
    memcpy(&bits, &tail, sizeof bits);
    // The exponent and the first bits of the mantissa, counted from those of 1/2, number the piece.
    const struct normal_piece *piece = &normal->piece[(bits >> 46) - ((uint64_t)1022 << 6)];
    return piece->at_zero + piece->slope * tail;
}

#endif
