/// \file
/// The words that a rank has received in a window, and their joining into one run.
///
/// An exchange leaves a run of words for each source rank. Delivery fetches lists ahead within a run, so the
/// first lists of every run cost the full latency of the memory. Among many ranks, runs hold a word or less:
/// a list of 23 synapses then took 270 ns, and takes 54 ns where runs are joined (docs/dryrun.md).

#ifndef TRANSPORT_INBOX_H
#define TRANSPORT_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The spikes received: one run of words per source rank (the own one included), some of them empty.
struct inbox {
    int runs;
    struct inbox_run {
        const uint32_t *words;
        size_t count;
    } * run; ///< [runs]
};

/// A single run of words, in memory of its own.
struct joined {
    uint32_t *words; ///< [capacity]
    size_t capacity;
    struct inbox_run run;
};

/// Returns the number of words in all runs.
size_t inbox_words(const struct inbox *inbox);

/// Says whether the runs are so short that joining them takes less time than delivering each on its own.
bool inbox_is_scattered(const struct inbox *inbox);

/// Makes room for `words` words. What was there is lost.
void joined_reserve(struct joined *joined, size_t words);

/// Copies all runs into one, in their order.
void joined_copy(struct joined *joined, const struct inbox *inbox);

/// Returns the inbox of which the first `words` words are the only run.
struct inbox joined_inbox(struct joined *joined, size_t words);

void joined_close(struct joined *joined);

#endif
