/// \file
/// The dimensions of levels on so many ranks, and what levels own. Everything here is arithmetic; which way
/// words go is in transport/grid.h of the variants.

#include "transport/levels.h"

#include "base/alloc.h"

/// Returns the quotient, rounded up.
static int divide_up(int number, int by) {
    return (number + by - 1) / by;
}

/// Returns the smallest number whose square is no less than `number`.
static int root_up(int number) {
    int root = 1;
    while ((long long)root * root < number) root++;
    return root;
}

struct levels levels_resolve(const struct levels *asked, int ranks) {
    struct levels levels = *asked;
    if (levels.n == 0) return levels;
    // Groups of equal size but for the last one, of about the root of the ranks.
    if (levels.ragged) {
        const int group = levels.size[0] ? levels.size[0] : root_up(ranks);
        levels.size[0] = group < ranks ? group : ranks;
        levels.size[1] = divide_up(ranks, levels.size[0]);
        // The inner level takes the largest divisor up to the root.
    } else if (levels.size[0] == 0) {
        levels.size[0] = 1;
        for (int group = 1; (long long)group * group <= ranks; group++)
            if (ranks % group == 0) levels.size[0] = group;
        levels.size[1] = ranks / levels.size[0];
    }
    return levels;
}

size_t levels_bytes(const struct levels *levels, int ranks) {
    const struct levels found = levels_resolve(levels, ranks);
    const size_t positions = found.position ? 2 : 0, groups = found.bridge ? (size_t)found.size[1] : 0;
    return (positions + groups) * (size_t)ranks * sizeof(int);
}

void levels_close(struct levels *levels) {
    FREE((int *)levels->position, (int *)levels->bridge);
    levels->position = levels->bridge = NULL;
}
