#include "app/estimate_routes.h"

#include "transport/fanout.h"
#include <math.h>

/// Returns the bytes where spikes are merged. Each rank has `each` neurons, whose spikes are needed on a rank
/// with the probability `hit`.
static double merged(const struct levels *levels, int ranks, double each, double hit) {
    const struct grid grid = grid_of(levels, ranks, 0);
    const int last = grid.levels.n - 1;
    double size[levels_max] = {1},
           needed[levels_max]; // ranks of a line; somebody behind a bridge needs a spike
    double onward[levels_max]; // branches of a spike from a hop on
    double behind = 1, ways = 1, entries = 1, branches = 0;
    for (int hop = 0; hop <= last; hop++) size[hop] = grid.levels.size[grid_level(&grid, hop)];
    onward[last] = size[last] * hit;
    for (int hop = last - 1; hop >= 0; hop--) {
        behind *= size[hop + 1];
        needed[hop] = -expm1(behind * log1p(-hit));
        onward[hop] = onward[hop + 1] + (size[hop] - 1) * needed[hop];
    }
    for (int hop = 0; hop < last; hop++) {
        const double come = each * ways * (size[hop] - 1); // neurons whose spikes may come by in this hop
        entries += come * needed[hop];
        branches += come * onward[hop + 1];
        ways *= size[hop];
    }
    return each * onward[0] * (double)sizeof(struct route) + 2.0 * ranks * (double)sizeof(uint32_t) +
           entries * (double)sizeof(size_t) + branches * (double)sizeof(struct fanout_branch);
}

double estimate_routes(const struct lane_plan *lane, int ranks, double lists, double sources) {
    const struct levels *levels = &lane->exchange.levels;
    const double tables = ranks > 1 ? (double)levels_bytes(levels, ranks) : 0;
    if (!levels->merge || ranks == 1 || sources == 0) return lists * (double)sizeof(struct route) + tables;
    return merged(levels, ranks, sources / ranks, fmin(1, lists / sources)) + tables;
}
