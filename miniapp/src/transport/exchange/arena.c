#include "transport/exchange/arena.h"

#include "base/alloc.h"
#include <stdlib.h>

enum { first_capacity = 16 }; // words

static size_t capacity(const struct arena *arena) {
    size_t words = 0;
    for (const struct arena_block *block = arena->block; block; block = block->before)
        words += block->capacity;
    return words;
}

static void add_block(struct arena *arena, size_t words) {
    struct arena_block *block = alloc(sizeof *block + words * sizeof *block->words, 1);
    block->used = 0;
    block->capacity = words;
    block->before = arena->block;
    arena->block = block;
}

void arena_clear(struct arena *arena) {
    if (!arena->block) return;
    if (arena->block->before) {
        const size_t words = capacity(arena);
        arena_close(arena);
        add_block(arena, words);
    }
    arena->block->used = 0;
}

uint32_t *arena_take(struct arena *arena, size_t count) {
    if (!arena->block || arena->block->capacity - arena->block->used < count) {
        const size_t before = capacity(arena), least = before < first_capacity ? first_capacity : before;
        add_block(arena, 2 * count < least ? least : 2 * count);
    }
    uint32_t *piece = arena->block->words + arena->block->used;
    arena->block->used += count;
    return piece;
}

void arena_give_back(struct arena *arena, size_t count) {
    arena->block->used -= count;
}

size_t arena_bytes(const struct arena *arena) {
    return capacity(arena) * sizeof(uint32_t);
}

void arena_close(struct arena *arena) {
    while (arena->block) {
        struct arena_block *before = arena->block->before;
        free(arena->block);
        arena->block = before;
    }
}
