#include "bench_messages_pairs.h"

int rank_pairs_all(int ranks) {
    return ranks * (ranks - 1) / 2;
}

/// Returns who sits at a place: the first place is fixed, the others move on by one in each round. With an
/// odd number of ranks, `seats` has one more, which stays empty in the first round's second place: -1.
static int seated(int place, int round, int seats, int ranks) {
    const int player = place == 0 ? 0 : 1 + (place - 1 + round) % (seats - 1);
    return seats == ranks || player == 0 ? player : player == 1 ? -1 : player - 1;
}

struct rank_pair rank_pair_of(int number, int wanted, int ranks) {
    const int seats = ranks + ranks % 2;
    const int place = (int)((long long)number * rank_pairs_all(ranks) / wanted);
    int met = 0;
    for (int round = 0;; round++)
        for (int table = 0; table < seats / 2; table++) {
            const int one = seated(table, round, seats, ranks);
            const int other = seated(seats - 1 - table, round, seats, ranks);
            if (one < 0 || other < 0 || met++ < place) continue;
            return one < other ? (struct rank_pair){one, other} : (struct rank_pair){other, one};
        }
}
