#include "record/sharing.h"

#include <string.h>

/// Which rank each core is given to, while as many threads as possible are given a core (Kuhn's matching).
struct dealing {
    const struct rank_tally *ranks;
    int owner[host_threads_max]; ///< of each core; -1: nobody
    bool seen[host_threads_max]; ///< in the search that goes on
};

/// Gives a rank one more core, if need be by giving its owner another one. \return whether that was possible.
static bool give_core(struct dealing *dealing, int rank) {
    const struct core_set *usable = &dealing->ranks[rank].usable;
    for (int core = 0; core < host_threads_max; core++)
        if (dealing->owner[core] < 0 && core_set_has(usable, core)) {
            dealing->owner[core] = rank;
            return true;
        }
    for (int core = 0; core < host_threads_max; core++) {
        if (dealing->seen[core] || !core_set_has(usable, core)) continue;
        dealing->seen[core] = true;
        if (give_core(dealing, dealing->owner[core])) {
            dealing->owner[core] = rank;
            return true;
        }
    }
    return false;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

bool sharing_find(struct sharing *found, const struct nodes *nodes, int node, const struct rank_tally *ranks,
                  int n_ranks, int threads) {
    struct dealing dealing = {.ranks = ranks};
    memset(dealing.owner, -1, sizeof dealing.owner);
    for (int r = 0; r < n_ranks; r++) {
        if (nodes->of_rank[r] != node) continue;
        for (int t = 0; t < least(threads, ranks[r].usable_cores); t++) {
            memset(dealing.seen, 0, sizeof dealing.seen);
            if (give_core(&dealing, r)) continue;
            // The cores that the search has seen are all that these ranks may use, and all are taken.
            *found = (struct sharing){.first = -1, .second = -1};
            for (int core = 0; core < host_threads_max; core++) found->cores += dealing.seen[core];
            for (int other = 0; other <= r; other++) {
                bool among = other == r;
                for (int core = 0; core < host_threads_max; core++)
                    among = among || (dealing.seen[core] && dealing.owner[core] == other);
                if (!among) continue;
                if (found->n_ranks++ == 0)
                    found->first = other;
                else if (found->second < 0)
                    found->second = other;
                found->threads += least(threads, ranks[other].usable_cores);
            }
            return true;
        }
    }
    return false;
}
