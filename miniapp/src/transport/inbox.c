#include "transport/inbox.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

size_t inbox_words(const struct inbox *inbox) {
    size_t words = 0;
    for (int i = 0; i < inbox->runs; i++) words += inbox->run[i].count;
    return words;
}

bool inbox_is_scattered(const struct inbox *inbox) {
    enum {
        long_enough = 512
    }; // words of a run on the mean: copying them takes about as long as one cold start
    size_t filled = 0;
    for (int i = 0; i < inbox->runs; i++) filled += inbox->run[i].count > 0;
    return filled > 1 && inbox_words(inbox) < filled * long_enough;
}

void joined_reserve(struct joined *joined, size_t words) {
    if (words <= joined->capacity) return;
    free(joined->words);
    joined->capacity = 2 * words;
    joined->words = ALLOC(uint32_t, joined->capacity);
}

void joined_copy(struct joined *joined, const struct inbox *inbox) {
    size_t n = 0;
    joined_reserve(joined, inbox_words(inbox));
    for (int i = 0; i < inbox->runs; i++) {
        const struct inbox_run run = inbox->run[i];
        if (run.count == 0) continue;
        memcpy(joined->words + n, run.words, run.count * sizeof *run.words);
        n += run.count;
    }
}

struct inbox joined_inbox(struct joined *joined, size_t words) {
    joined->run = (struct inbox_run){joined->words, words};
    return (struct inbox){1, &joined->run};
}

void joined_close(struct joined *joined) {
    free(joined->words);
}
