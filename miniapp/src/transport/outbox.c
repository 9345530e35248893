#include "transport/outbox.h"

#include "base/alloc.h"
#include "transport/mpi_count.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void outbox_open(struct outbox *outbox, int ranks) {
    *outbox = (struct outbox){.ranks = ranks, .words = ALLOC(uint32_t, 0)};
    outbox->room = ALLOC_ZERO(struct outbox_room, (size_t)ranks);
    outbox->start = ALLOC_ZERO(uint32_t, (size_t)ranks);
}

void outbox_close(struct outbox *outbox) {
    free(outbox->room);
    free(outbox->start);
    free(outbox->words);
}

void outbox_clear(struct outbox *outbox) {
    for (int rank = 0; rank < outbox->ranks; rank++) outbox->room[rank].next = outbox->start[rank];
}

static uint32_t room_of(const struct outbox *outbox, int rank) {
    return outbox->room[rank].end - outbox->start[rank];
}

/// Gives a destination `words` words of a pool from `place` on, and moves its words there.
static void move(struct outbox *outbox, int rank, uint32_t *pool, uint32_t place, uint32_t words) {
    const uint32_t count = outbox_count(outbox, rank);
    if (count) memcpy(pool + place, outbox->words + outbox->start[rank], count * sizeof *pool);
    outbox->start[rank] = place;
    outbox->room[rank] = (struct outbox_room){place + count, place + words};
}

/// Makes a pool that is half as large again as all room together, and places the rooms one after the other.
/// The room of `destination` has space for `words` words.
static void renew(struct outbox *outbox, int destination, uint32_t words) {
    uint64_t sum = words;
    for (int rank = 0; rank < outbox->ranks; rank++)
        if (rank != destination) sum += room_of(outbox, rank);
    mpi_count(sum, "words of a window");
    const uint32_t capacity = sum + sum / 2 < INT_MAX ? (uint32_t)(sum + sum / 2) : (uint32_t)INT_MAX;
    uint32_t *pool = ALLOC(uint32_t, capacity);
    outbox->used = 0;
    for (int rank = 0; rank < outbox->ranks; rank++) {
        const uint32_t room = rank == destination ? words : room_of(outbox, rank);
        move(outbox, rank, pool, outbox->used, room);
        outbox->used += room;
    }
    free(outbox->words);
    outbox->words = pool;
    outbox->capacity = capacity;
}

void outbox_grow(struct outbox *outbox, int destination, size_t more) {
    const uint64_t needed = outbox_count(outbox, destination) + (uint64_t)more;
    uint64_t words = room_of(outbox, destination);
    words = words ? 2 * words : outbox_first_room;
    while (words < needed) words *= 2;
    mpi_count(words, "words of a window for one rank");
    if (words > outbox->capacity - outbox->used) {
        renew(outbox, destination, (uint32_t)words);
        return;
    }
    move(outbox, destination, outbox->words, outbox->used, (uint32_t)words);
    outbox->used += (uint32_t)words;
}

void outbox_append(struct outbox *outbox, int destination, const uint32_t *words, size_t count) {
    struct outbox_room *room = &outbox->room[destination];
    if (count > room->end - room->next) outbox_grow(outbox, destination, count);
    if (count) memcpy(outbox->words + room->next, words, count * sizeof *words);
    room->next += (uint32_t)count;
}

int outbox_start(const struct outbox *outbox, int destination) {
    return outbox_count(outbox, destination) ? (int)outbox->start[destination] : 0;
}

size_t outbox_bytes(const struct outbox *outbox) {
    return outbox->capacity * sizeof *outbox->words + (size_t)outbox->ranks * outbox_place_bytes;
}
