/// \file
/// The send buffer: the words that a lane sends in a window, kept apart for each destination. The lane owns
/// it: it opens, clears and frees it; exchanges only read it (run/lane.c).
///
/// All of them lie in one pool, as MPI_Alltoallv takes them. A destination gets room in the pool with its
/// first word, and its room doubles on its own. Cost of a word: one store, and now and then a move.
/// Memory: rooms of up to twice what the largest window wrote for a destination, in a pool that is up to half
/// as large again, and send_buffer_place_bytes for each destination.
///
///     pool: | room of 3: w w w . | given up | room of 0: w . . . | room of 5: w w w w w . . . | free |
///
/// Destination 5 had room for four words. Its fifth word made it move to the end of what is used, with twice
/// the room. (In truth the first room has send_buffer_first_room words.)

#pragma once

#include <stddef.h>
#include <stdint.h>

/// The buffer of one transfer of a lane (run/lane.h). Only add words by the functions below, and only read
/// them by those; a pointer or place is valid until the next word is added.
struct send_buffer {
    int destinations; ///< ranks of the lane, or 1 for a broadcast
    int n_reachable;  ///< destinations that may get words; what a window costs follows them
    int *reachable;   ///< [n_reachable] which ones
    struct send_buffer_room {
        uint32_t next, end; ///< places in `words`: of the next word, and the end of the room
    } * room;               ///< [destinations]
    uint32_t *start;        ///< [destinations] place of the first word
    uint32_t *words;        ///< [capacity] the pool
    uint32_t capacity;      ///< words; grows, never shrinks
    uint32_t used;          ///< words of the pool that are room, or were before the room moved
};

enum {
    send_buffer_first_room = 16, ///< words: a cache line, so that each room begins on a line of its own
    send_buffer_place_bytes =
        sizeof(struct send_buffer_room) + sizeof(uint32_t) ///< of a destination without words
};

/// Opens it for words to all destinations, or only to the `reachable` ones, each named once. Close it in any
/// case.
void send_buffer_open(struct send_buffer *send_buffer, int destinations);
void send_buffer_open_some(struct send_buffer *send_buffer, int destinations, const int *reachable,
                           int n_reachable);
void send_buffer_close(struct send_buffer *send_buffer);

void send_buffer_clear(struct send_buffer *send_buffer); ///< forgets the spikes and keeps the room

/// Makes room for `more` further words of a destination. This is kept apart from the common path of
/// send_buffer_add(). Ends the program where all room together is more than MPI can count.
void send_buffer_grow(struct send_buffer *send_buffer, int destination, size_t more);

/// Adds a word for a destination, which must be a reachable one.
static inline void send_buffer_add(struct send_buffer *send_buffer, int destination, uint32_t word) {
    struct send_buffer_room *room = &send_buffer->room[destination];
    if (room->next == room->end) send_buffer_grow(send_buffer, destination, 1);
    send_buffer->words[room->next++] = word;
}

/// Adds a run of `count` words, which lie outside this buffer: for exchanges that pass words on.
void send_buffer_append(struct send_buffer *send_buffer, int destination, const uint32_t *words,
                        size_t count);

/// Returns how many words there are for a destination.
static inline uint32_t send_buffer_count(const struct send_buffer *send_buffer, int destination) {
    return send_buffer->room[destination].next - send_buffer->start[destination];
}

/// Returns the words for a destination; not NULL even where there are none.
static inline const uint32_t *send_buffer_words(const struct send_buffer *send_buffer, int destination) {
    return send_buffer->words + send_buffer->start[destination];
}

/// Returns the place of the words for a destination in send_buffer->words, 0 where there are none.
int send_buffer_start(const struct send_buffer *send_buffer, int destination);

size_t send_buffer_bytes(const struct send_buffer *send_buffer); ///< of the pool and of the places
