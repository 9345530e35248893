/// \file
/// Opens receive buffers, and joins short runs of words into one (see receive_buffer.h for when that pays).
/// Joining copies every word once; the memory for it grows to the largest window and is kept.

#include "transport/receive_buffer.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void receive_buffer_open(struct receive_buffer *receive_buffer, int sources) {
    *receive_buffer = (struct receive_buffer){.room = sources,
                                              .run = ALLOC_ZERO(struct receive_buffer_run, (size_t)sources)};
}

void receive_buffer_close(struct receive_buffer *receive_buffer) {
    free(receive_buffer->run);
}

/// Words of a run, on the mean, from which runs are delivered where they lie. A run that is delivered on its
/// own begins cold: its first lists cost the latency of the memory, 140 to 180 ns (EPYC, 2026-11-22), which
/// is about what copying 512 words takes (2 KiB at some 10 bytes per ns). Near this number both cost the
/// same, so half or twice as many make little difference. Chosen from that, not tuned.
enum { long_enough = 512 };

bool receive_buffer_is_scattered(const struct receive_buffer *receive_buffer) {
    return receive_buffer->runs > 1 && receive_buffer->words < (size_t)receive_buffer->runs * long_enough;
}

void receive_buffer_join(struct word_buffer *joined, const struct receive_buffer *receive_buffer) {
    size_t n = 0;
    word_buffer_reserve(joined, receive_buffer->words);
    for (int i = 0; i < receive_buffer->runs; i++) {
        const struct receive_buffer_run run = receive_buffer->run[i];
        memcpy(joined->words + n, run.words, run.count * sizeof *run.words);
        n += run.count;
    }
}
