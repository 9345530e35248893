#include "transport/outbox.h"

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <stdlib.h>
#include <string.h>

void outbox_open(struct outbox *outbox, int ranks, uint32_t capacity) {
    *outbox = (struct outbox){.ranks = ranks, .capacity = capacity};
    outbox->count = ALLOC_ZERO(uint32_t, (size_t)ranks);
    outbox->words = ALLOC(uint32_t, (size_t)ranks * capacity);
}

void outbox_close(struct outbox *outbox) {
    free(outbox->count);
    free(outbox->words);
}

void outbox_clear(struct outbox *outbox) {
    memset(outbox->count, 0, (size_t)outbox->ranks * sizeof *outbox->count);
}

void outbox_grow(struct outbox *outbox) {
    const uint32_t capacity =
        (uint32_t)mpi_count(2 * (uint64_t)outbox->capacity, "words of a window for one rank");
    uint32_t *words = ALLOC(uint32_t, (size_t)outbox->ranks * capacity);
    for (size_t rank = 0; rank < (size_t)outbox->ranks; rank++)
        memcpy(words + rank * capacity, outbox->words + rank * outbox->capacity,
               outbox->count[rank] * sizeof *words);
    free(outbox->words);
    outbox->words = words;
    outbox->capacity = capacity;
}

void outbox_append(struct outbox *outbox, int destination, const uint32_t *words, size_t count) {
    while (outbox->capacity - outbox->count[destination] < count) outbox_grow(outbox);
    if (count)
        memcpy(outbox->words + (size_t)destination * outbox->capacity + outbox->count[destination], words,
               count * sizeof *words);
    outbox->count[destination] += (uint32_t)count;
}

size_t outbox_bytes(const struct outbox *outbox) {
    return (size_t)outbox->ranks * outbox->capacity * sizeof *outbox->words;
}
