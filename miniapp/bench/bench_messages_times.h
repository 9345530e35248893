/// \file
/// Times of messages between two ranks, and of all pairs at once.

#ifndef BENCH_MESSAGES_TIMES_H
#define BENCH_MESSAGES_TIMES_H

#include "bench_messages_pairs.h"
#include <stdbool.h>

/// Messages that the first rank of a pair sends in a row. The second rank answers when it has all of them.
struct message_case {
    int bytes, messages;
};

/// A repetition of a case. `at_once`: how many pairs were sending at the same time.
struct message_time {
    int repetition;
    struct rank_pair pair;
    struct message_case what;
    int at_once, rounds;
    double round_s; ///< median over the rounds
};

/// What a rank has measured; `room` for so many.
struct message_times {
    struct message_time *all;
    int n, room;
};

enum { most_bytes = 1 << 22 };

/// Returns how many times a repetition adds to a rank at most.
int message_times_room(int ranks);

/// Times every case between the ranks of a pair. Called by these two ranks only.
void message_times_pair(struct message_times *times, struct rank_pair pair, int rank, int repetition,
                        double min_time_s);

/// Times large messages from each rank of the first half to its partner in the second half: one pair at a
/// time, and all of them at once. An odd rank in between is left out. Collective.
void message_times_halves(struct message_times *times, int rank, int ranks, int repetition,
                          double min_time_s);

/// Returns the largest message, up to most_bytes, that leaves the first rank of a pair before the second one
/// has asked for it; -1 if none does. Called by the two ranks only; the result is valid on the first one.
int message_eager_bytes(struct rank_pair pair, int rank);

#endif
