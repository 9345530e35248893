/// \file
/// The words that a lane sends in a window.

#ifndef TRANSPORT_OUTBOX_H
#define TRANSPORT_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

/// Spikes to send, as packed words (base/spike.h), kept apart for each destination. For a broadcast, one
/// destination stands for all.
///
/// All words lie in one pool, as MPI_Alltoallv takes them. A destination has room in it from its first word
/// on, and its room doubles on its own. So the memory follows what is written, apart from outbox_place_bytes
/// for each destination. Only add words by the functions below, and only read them by those; a pointer or
/// place is valid until the next word is added.
struct outbox {
    int ranks; ///< destinations
    struct outbox_room {
        uint32_t next, end; ///< places in `words`: of the next word, and the end of the room
    } * room;               ///< [ranks]
    uint32_t *start;        ///< [ranks] place of the first word
    uint32_t *words;        ///< [capacity] the pool
    uint32_t capacity;      ///< words; grows, never shrinks
    uint32_t used;          ///< words of the pool that are room, or were before the room moved
};

enum {
    outbox_first_room = 16, ///< words: a cache line, so that each room begins on a line of its own
    outbox_place_bytes = sizeof(struct outbox_room) + sizeof(uint32_t) ///< of a destination without words
};

void outbox_open(struct outbox *outbox, int ranks);
void outbox_close(struct outbox *outbox);

/// Forgets the spikes and keeps the room.
void outbox_clear(struct outbox *outbox);

/// Makes room for `more` further words of a destination. This is kept apart from the common path of
/// outbox_add(). Ends the program where all room together is more than MPI can count.
void outbox_grow(struct outbox *outbox, int destination, size_t more);

static inline void outbox_add(struct outbox *outbox, int destination, uint32_t word) {
    struct outbox_room *room = &outbox->room[destination];
    if (room->next == room->end) outbox_grow(outbox, destination, 1);
    outbox->words[room->next++] = word;
}

/// Adds a run of `count` words, which lie outside this outbox.
void outbox_append(struct outbox *outbox, int destination, const uint32_t *words, size_t count);

/// Returns how many words there are for a destination.
static inline uint32_t outbox_count(const struct outbox *outbox, int destination) {
    return outbox->room[destination].next - outbox->start[destination];
}

/// Returns the words for a destination; not NULL even where there are none.
static inline const uint32_t *outbox_words(const struct outbox *outbox, int destination) {
    return outbox->words + outbox->start[destination];
}

/// Returns the place of the words for a destination in outbox->words, 0 where there are none.
int outbox_start(const struct outbox *outbox, int destination);

/// Returns the bytes of the pool and of the places.
size_t outbox_bytes(const struct outbox *outbox);

#endif
