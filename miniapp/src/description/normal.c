/// \file
/// Makes the table of the normal quantile: 2048 straight pieces, whose ends are found by bisection.

#include "description/normal.h"

#include "base/alloc.h"
#include <math.h>

double normal_quantile(double p) {
    // Bisection, until the interval has the width of a rounding error.
    double low = -40, high = 0;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(0.5 * erfc(-middle * M_SQRT1_2) < p ? &low : &high) = middle;
    }
    return high;
}

/// Returns the tail at which a piece begins.
static double edge(int piece) {
    return ldexp(1 + (double)(piece % normal_parts) / normal_parts, piece / normal_parts - 1);
}

struct normal *normal_open(void) {
    struct normal *normal = ALLOC(struct normal, 1);
    double begin = edge(0), deviation = -normal_quantile(ldexp(begin, -32));
    for (int i = 0; i < normal_pieces; i++) {
        // A straight piece through the quantiles at both of its ends.
        const double end = edge(i + 1), next = -normal_quantile(ldexp(end, -32));
        const double slope = (next - deviation) / (end - begin);
        normal->piece[i] = (struct normal_piece){deviation - slope * begin, slope};
        begin = end, deviation = next;
    }
    return normal;
}
