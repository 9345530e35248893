#include "base/alloc.h"
#include "transport/exchange.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int mpi_count(uint64_t number, const char *what) {
    if (number <= INT_MAX) return (int)number;
    fatal("exchange: %llu %s; expected at most %d, which MPI can count, so take shorter windows, fewer "
          "ranks or another exchange",
          (unsigned long long)number, what, INT_MAX);
}

uint64_t mpi_sum(const int *count, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) sum += (uint64_t)count[i];
    return sum;
}

uint64_t mpi_starts(const int *count, int n, int *start, const char *what) {
    const uint64_t sum = mpi_sum(count, n);
    mpi_count(sum, what);
    for (int i = 0, at = 0; i < n; at += count[i++]) start[i] = at;
    return sum;
}

void inbox_open(struct inbox *inbox, int sources) {
    *inbox = (struct inbox){.room = sources, .run = ALLOC_ZERO(struct inbox_run, (size_t)sources)};
}

void inbox_close(struct inbox *inbox) {
    free(inbox->run);
}

bool inbox_is_scattered(const struct inbox *inbox) {
    enum {
        long_enough = 512
    }; // words of a run on the mean: copying them takes about as long as a cold start
    return inbox->runs > 1 && inbox->words < (size_t)inbox->runs * long_enough;
}

void joined_reserve(struct joined *joined, size_t words) {
    joined->words = alloc_room(joined->words, &joined->capacity, words, sizeof *joined->words);
}

void joined_copy(struct joined *joined, const struct inbox *inbox) {
    size_t n = 0;
    joined_reserve(joined, inbox->words);
    for (int i = 0; i < inbox->runs; i++) {
        const struct inbox_run run = inbox->run[i];
        memcpy(joined->words + n, run.words, run.count * sizeof *run.words);
        n += run.count;
    }
}

void joined_close(struct joined *joined) {
    free(joined->words);
}

void outbox_open_some(struct outbox *outbox, int ranks, const int *to, int n_to) {
    *outbox = (struct outbox){
        .ranks = ranks, .n_to = n_to, .to = ALLOC(int, (size_t)n_to), .words = ALLOC(uint32_t, 0)};
    for (int i = 0; i < n_to; i++) outbox->to[i] = to ? to[i] : i;
    outbox->room = ALLOC_ZERO(struct outbox_room, (size_t)ranks);
    outbox->start = ALLOC_ZERO(uint32_t, (size_t)ranks);
}

void outbox_open(struct outbox *outbox, int ranks) {
    outbox_open_some(outbox, ranks, NULL, ranks);
}

void outbox_close(struct outbox *outbox) {
    FREE(outbox->to, outbox->room, outbox->start, outbox->words);
}

void outbox_clear(struct outbox *outbox) {
    for (int i = 0; i < outbox->n_to; i++) outbox->room[outbox->to[i]].next = outbox->start[outbox->to[i]];
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
    for (int i = 0; i < outbox->n_to; i++)
        if (outbox->to[i] != destination) sum += room_of(outbox, outbox->to[i]);
    mpi_count(sum, "words of a window");
    const uint32_t capacity = sum + sum / 2 < INT_MAX ? (uint32_t)(sum + sum / 2) : (uint32_t)INT_MAX;
    uint32_t *pool = ALLOC(uint32_t, capacity);
    outbox->used = 0;
    for (int i = 0; i < outbox->n_to; i++) {
        const int rank = outbox->to[i];
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
    return outbox->capacity * sizeof *outbox->words + (size_t)outbox->ranks * outbox_place_bytes +
           (size_t)outbox->n_to * sizeof *outbox->to;
}
