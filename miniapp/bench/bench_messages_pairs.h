/// \file
/// Which pairs of ranks bench_messages measures, one pair at a time.

#ifndef BENCH_MESSAGES_PAIRS_H
#define BENCH_MESSAGES_PAIRS_H

/// `first` sends and reads the clock, `second` answers.
struct rank_pair {
    int first, second;
};

/// Returns how many pairs `ranks` ranks have.
int rank_pairs_all(int ranks);

/// Returns pair `number` of `wanted` ones, both from 0 and at most rank_pairs_all. Pairs are in the order of
/// a round-robin tournament (Schurig 1886), in which every rank meets every other one once; fewer than all
/// are spread evenly over it. The first one is that of the first and the last rank.
struct rank_pair rank_pair_of(int number, int wanted, int ranks);

#endif
