/// \file
/// Fuzz target: the frames of exchanges in levels. Whatever words arrive, a run that is taken off them
/// lies within them and names a rank, and what was framed comes back.

#include "../../variants/transport/exchange/multi_level.c"

#include "fuzz.h"

enum { most_words = 512, most_runs = 16, most_ranks = 9 };

/// Takes all runs off arbitrary words.
static void take_any(struct bytes *bytes) {
    const int ranks = (int)next_number(bytes, 1, most_ranks);
    const uint32_t small = next_byte(bytes) % 2;
    size_t n = 0, taken = 0;
    uint32_t *words = ALLOC(uint32_t, most_words);
    for (; bytes->left > 0 && n < most_words; n++) words[n] = small ? next_byte(bytes) : next_word(bytes);
    uint32_t *exact = malloc(n * sizeof *exact + 1); // so that a word beyond the end is noticed
    memcpy(exact, words, n * sizeof *words);

    uint32_t rank;
    for (struct receive_buffer_run from = {exact, n, 0}, run; take(&from, ranks, &rank, &run);) {
        promise(rank < (uint32_t)ranks, "a taken run names a rank", "it names none");
        promise(run.words >= exact + frame_words && run.words + run.count <= exact + n,
                "a taken run lies within the words", "it does not");
        promise(from.words == run.words + run.count && from.words + from.count == exact + n,
                "the rest begins behind a taken run", "it does not");
        promise(memcmp(run.words, words + (run.words - exact), run.count * sizeof *words) == 0,
                "a taken run holds the words that arrived", "it holds others");
        taken += frame_words + run.count;
    }
    promise(taken <= n, "no word is taken twice", "one is");
    free(exact);
    free(words);
}

/// Frames runs of words for some destinations, and takes them off again.
static void take_back(struct bytes *bytes) {
    struct sent {
        uint32_t frame, count;
        int destination;
    } sent[most_runs];
    const int ranks = (int)next_number(bytes, 1, most_ranks);
    const int destinations = (int)next_number(bytes, 1, 3);
    struct send_buffer send_buffer;
    uint32_t n = 0, content[64];
    for (uint32_t i = 0; i < 64; i++) content[i] = 0x01010101 * i;
    send_buffer_open(&send_buffer, destinations);
    for (; n < most_runs && bytes->left > 0; n++) {
        sent[n] = (struct sent){next_number(bytes, 0, (uint32_t)ranks - 1), next_number(bytes, 0, 60),
                                (int)next_number(bytes, 0, (uint32_t)destinations - 1)};
        const uint32_t frame[frame_words] = {sent[n].frame, sent[n].count};
        send_buffer_append(&send_buffer, sent[n].destination, frame, frame_words);
        send_buffer_append(&send_buffer, sent[n].destination, content + n % 4, sent[n].count);
    }
    for (int destination = 0; destination < destinations; destination++) {
        struct receive_buffer_run from = {send_buffer_words(&send_buffer, destination),
                                          send_buffer_count(&send_buffer, destination), 0};
        for (uint32_t i = 0; i < n; i++) {
            struct receive_buffer_run run;
            uint32_t frame;
            if (sent[i].destination != destination) continue;
            promise(take(&from, ranks, &frame, &run), "a framed run can be taken", "it cannot");
            promise(frame == sent[i].frame && run.count == sent[i].count &&
                        memcmp(run.words, content + i % 4, run.count * sizeof *content) == 0,
                    "a framed run comes back", "another one does");
        }
        promise(from.count == 0, "nothing is left behind the framed runs", "something is");
    }
    send_buffer_close(&send_buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes bytes = {data, size};
    if (next_byte(&bytes) % 2)
        take_back(&bytes);
    else
        take_any(&bytes);
    return 0;
}
