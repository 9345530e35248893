/// \file
/// Makes the table of a Poisson distribution, from the smallest terms upwards so that sums are exact.

#include "description/poisson.h"

#include <math.h>

struct poisson poisson_open(double mean) {
    enum { k_max = 400 }; // beyond it nothing is left, even with the largest mean
    struct poisson poisson = {0, 0, {0}};
    double probability[k_max], tail = 0; // P(N = k), and P(N >= k), summed from the smallest terms
    probability[0] = exp(-mean);
    for (int k = 1; k < k_max; k++) probability[k] = probability[k - 1] * mean / k;

    // Numbers that every draw reaches are only counted; those that none reaches end the table.
    double at_least[k_max];
    for (int k = k_max - 1; k > 0; k--) at_least[k] = nearbyint(4294967296.0 * (tail += probability[k]));
    for (int k = 1; k < k_max && at_least[k] > 0; k++) {
        if (at_least[k] >= 4294967296.0)
            poisson.always++;
        else
            poisson.at_least[poisson.n++] = (uint32_t)at_least[k];
    }
    return poisson;
}
