/// \file
/// Makes the table of a distribution from its probabilities, with a guide by the top byte of a word.

#include "description/discrete.h"

#include "base/alloc.h"
#include <math.h>

bool discrete_open(struct discrete *discrete, const double *probability, uint32_t n) {
    // Probabilities need not add up to 1.
    double total = 0, sum = 0;
    *discrete = (struct discrete){0};
    for (uint32_t i = 0; i < n; i++) total += probability[i];
    if (!(total > 0)) return false;

    // The sum of probabilities up to a number, in 2^-32, is where its words end.
    discrete->upper = ALLOC(uint32_t, n);
    uint32_t last = n - 1;
    while (probability[last] <= 0) last--;
    for (uint32_t i = 0; i < n; i++) {
        sum += probability[i];
        double edge = floor(sum / total * 4294967296.0) - 1;
        discrete->upper[i] = i >= last ? UINT32_MAX : edge < 0 ? 0 : (uint32_t)fmin(edge, 4294967295.0);
    }
    // For each top byte, the first number that a word with it can draw.
    for (uint32_t top = 0, i = 0; top < discrete_guide_size; top++) {
        while (discrete->upper[i] < top << 24) i++;
        discrete->guide[top] = i;
    }
    return true;
}
