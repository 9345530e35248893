/// \file
/// Gives destinations their room in the pool of a send buffer, and moves it when it is full.
///
/// The pool is filled from its beginning. A destination whose room is full gets one twice as large at the end
/// of what is used, and its words move there; the old room is lost until the pool is renewed. When the end of
/// the pool is reached, renew() takes a new pool, half as large again as all room together, and places the
/// rooms one after the other. So words move a constant number of times on average, and rooms lie anywhere,
/// which MPI_Alltoallv allows: it takes a place for each destination.
///
/// Rooms stay from window to window, so that after some windows nothing moves any more.

#include "transport/send_buffer.h"

#include "base/alloc.h"
#include "transport/communicator.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void send_buffer_open_some(struct send_buffer *send_buffer, int destinations, const int *reachable,
                           int n_reachable) {
    *send_buffer = (struct send_buffer){.destinations = destinations, .n_reachable = n_reachable};
    send_buffer->reachable = ALLOC(int, (size_t)n_reachable);
    // NULL stands for all destinations.
    for (int i = 0; i < n_reachable; i++) send_buffer->reachable[i] = reachable ? reachable[i] : i;
    send_buffer->room = ALLOC_ZERO(struct send_buffer_room, (size_t)destinations);
    send_buffer->start = ALLOC_ZERO(uint32_t, (size_t)destinations);
    send_buffer->words = ALLOC(uint32_t, 0);
}

void send_buffer_open(struct send_buffer *send_buffer, int destinations) {
    send_buffer_open_some(send_buffer, destinations, NULL, destinations);
}

void send_buffer_close(struct send_buffer *send_buffer) {
    FREE(send_buffer->reachable, send_buffer->room, send_buffer->start, send_buffer->words);
}

void send_buffer_clear(struct send_buffer *send_buffer) {
    for (int i = 0; i < send_buffer->n_reachable; i++)
        send_buffer->room[send_buffer->reachable[i]].next = send_buffer->start[send_buffer->reachable[i]];
}

/// Returns the words for which a destination has room, used or not.
static uint32_t room_of(const struct send_buffer *send_buffer, int rank) {
    return send_buffer->room[rank].end - send_buffer->start[rank];
}

/// Gives a destination `words` words of a pool from `place` on, and moves its words there.
static void move(struct send_buffer *send_buffer, int rank, uint32_t *pool, uint32_t place, uint32_t words) {
    const uint32_t count = send_buffer_count(send_buffer, rank);
    if (count) memcpy(pool + place, send_buffer->words + send_buffer->start[rank], count * sizeof *pool);
    send_buffer->start[rank] = place;
    send_buffer->room[rank] = (struct send_buffer_room){place + count, place + words};
}

/// Makes a pool that is half as large again as all room together, and places the rooms one after the other.
/// The room of `destination` has space for `words` words.
static void renew(struct send_buffer *send_buffer, int destination, uint32_t words) {
    // All rooms as they are, but for that of `destination`.
    uint64_t sum = words;
    for (int i = 0; i < send_buffer->n_reachable; i++)
        if (send_buffer->reachable[i] != destination) sum += room_of(send_buffer, send_buffer->reachable[i]);
    mpi_count(sum, "words of a window");
    const uint32_t capacity = sum + sum / 2 < INT_MAX ? (uint32_t)(sum + sum / 2) : (uint32_t)INT_MAX;
    uint32_t *pool = ALLOC(uint32_t, capacity);
    send_buffer->used = 0;
    for (int i = 0; i < send_buffer->n_reachable; i++) {
        const int rank = send_buffer->reachable[i];
        const uint32_t room = rank == destination ? words : room_of(send_buffer, rank);
        move(send_buffer, rank, pool, send_buffer->used, room);
        send_buffer->used += room;
    }
    free(send_buffer->words);
    send_buffer->words = pool;
    send_buffer->capacity = capacity;
}

void send_buffer_grow(struct send_buffer *send_buffer, int destination, size_t more) {
    // Twice the room, or as often twice as is needed.
    const uint64_t needed = send_buffer_count(send_buffer, destination) + (uint64_t)more;
    uint64_t words = room_of(send_buffer, destination);
    words = words ? 2 * words : send_buffer_first_room;
    while (words < needed) words *= 2;
    mpi_count(words, "words of a window for one rank");
    // No place left at the end of the pool: renew it. Otherwise the old room is given up until then.
    if (words > send_buffer->capacity - send_buffer->used) {
        renew(send_buffer, destination, (uint32_t)words);
        return;
    }
    move(send_buffer, destination, send_buffer->words, send_buffer->used, (uint32_t)words);
    send_buffer->used += (uint32_t)words;
}

void send_buffer_append(struct send_buffer *send_buffer, int destination, const uint32_t *words,
                        size_t count) {
    struct send_buffer_room *room = &send_buffer->room[destination];
    if (count > room->end - room->next) send_buffer_grow(send_buffer, destination, count);
    if (count) memcpy(send_buffer->words + room->next, words, count * sizeof *words);
    room->next += (uint32_t)count;
}

int send_buffer_start(const struct send_buffer *send_buffer, int destination) {
    return send_buffer_count(send_buffer, destination) ? (int)send_buffer->start[destination] : 0;
}

size_t send_buffer_bytes(const struct send_buffer *send_buffer) {
    return send_buffer->capacity * sizeof *send_buffer->words +
           (size_t)send_buffer->destinations * send_buffer_place_bytes +
           (size_t)send_buffer->n_reachable * sizeof *send_buffer->reachable;
}
