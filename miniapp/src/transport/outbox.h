/// \file
/// The words that a lane sends in a window.

#ifndef TRANSPORT_OUTBOX_H
#define TRANSPORT_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

/// Spikes to send, as packed words (base/spike.h), kept apart for each destination. For a broadcast, one
/// destination stands for all.
struct outbox {
    int ranks;         ///< destinations
    uint32_t capacity; ///< words per destination; grows, never shrinks
    uint32_t *count;   ///< [ranks] words to send
    uint32_t *words;   ///< [ranks][capacity]
};

void outbox_open(struct outbox *outbox, int ranks, uint32_t capacity);
void outbox_close(struct outbox *outbox);

/// Forgets the spikes and keeps the room.
void outbox_clear(struct outbox *outbox);

/// Doubles the capacity. This is kept apart from the common path of outbox_add().
void outbox_grow(struct outbox *outbox);

/// Adds a run of `count` words, which lie outside this outbox.
void outbox_append(struct outbox *outbox, int destination, const uint32_t *words, size_t count);

/// Returns how many words there are for a destination, and the words.
static inline uint32_t outbox_count(const struct outbox *outbox, int destination) {
    return outbox->count[destination];
}
static inline const uint32_t *outbox_words(const struct outbox *outbox, int destination) {
    return outbox->words + (size_t)destination * outbox->capacity;
}

/// Returns the bytes of all room.
size_t outbox_bytes(const struct outbox *outbox);

static inline void outbox_add(struct outbox *outbox, int destination, uint32_t word) {
    if (outbox->count[destination] == outbox->capacity) outbox_grow(outbox);
    outbox->words[(size_t)destination * outbox->capacity + outbox->count[destination]++] = word;
}

#endif
