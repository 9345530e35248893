/// \file
/// The receive buffer: what a rank has received in a window, as runs of words, one for each source rank
/// that sent some.
///
/// A run points to where the exchange has put it, so nothing is copied, unless the runs are so short that
/// joining them takes less time than delivering each on its own. Delivery fetches lists ahead within a
/// run of words, so the first lists of every run cost the full latency of the memory. Among many ranks,
/// runs hold a word or less: on 128 ranks, a list of 23 synapses then took 270 ns, and takes 54 ns where
/// runs are joined (a dry run on a quiet Xeon, 2026-11-23). Where the runs lie one after the other already,
/// delivery takes them as one.
///
/// Cost of a window: the ranks that send in it, not all ranks. Memory: 16 bytes for each possible source.

#pragma once

#include "transport/word_buffer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The words that a rank has received in a window: one run for each source rank that sent some, the own one
/// included, in any order of ranks. So what a window costs follows the ranks that send in it.
struct receive_buffer {
    int runs; ///< in this window
    struct receive_buffer_run {
        const uint32_t *words; ///< borrowed from the exchange, until it is started again
        uint32_t count;        ///< never 0
        int from;              ///< source rank
    } * run;                   ///< [room]
    int room;                  ///< the most runs there can be: the possible sources
    size_t words;              ///< in all runs
    const uint32_t *together;  ///< all words, where the runs lie one after the other; else NULL
    bool damaged; ///< what arrived cannot be right: the self-test refuses the exchange, a lane ends the run
};

/// Opens a buffer for words from at most `sources` ranks, the own one included.
void receive_buffer_open(struct receive_buffer *receive_buffer, int sources);
/// Frees the list of runs. The words are those of the exchange.
void receive_buffer_close(struct receive_buffer *receive_buffer);

/// Returns the bytes of the list of runs.
static inline size_t receive_buffer_bytes(const struct receive_buffer *receive_buffer) {
    return (size_t)receive_buffer->room * sizeof *receive_buffer->run;
}

/// Forgets the words of the last window. The memory that they lie in is that of the exchange.
static inline void receive_buffer_clear(struct receive_buffer *receive_buffer) {
    receive_buffer->runs = 0;
    receive_buffer->words = 0;
    receive_buffer->together = NULL;
    receive_buffer->damaged = false;
}

/// Adds what a rank sent, at most once for each rank and window. No words make no run. There are as many
/// places as sources, so a run beyond them is one that no rank has sent: the buffer is marked as damaged.
static inline void receive_buffer_add(struct receive_buffer *receive_buffer, int from, const uint32_t *words,
                                      size_t count) {
    if (count == 0) return;
    if (receive_buffer->runs == receive_buffer->room) {
        receive_buffer->damaged = true;
        return;
    }
    if (receive_buffer->runs == 0)
        receive_buffer->together = words;
    else if (receive_buffer->together && receive_buffer->together + receive_buffer->words != words)
        receive_buffer->together = NULL;
    receive_buffer->run[receive_buffer->runs++] = (struct receive_buffer_run){words, (uint32_t)count, from};
    receive_buffer->words += count;
}

/// Says whether the runs are so short that joining them takes less time than delivering each on its own.
bool receive_buffer_is_scattered(const struct receive_buffer *receive_buffer);

/// Copies all runs, in their order, into one.
void receive_buffer_join(struct word_buffer *joined, const struct receive_buffer *receive_buffer);
