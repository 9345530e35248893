/// \file
/// Blocks of words, each at least twice as large as what was there before, and one block again after a
/// window that took several.

#include "transport/exchange/arena.h"

#include "base/alloc.h"
#include <stdlib.h>

void arena_close(struct arena *arena) {
    while (arena->block) {
        struct arena_block *before = arena->block->before;
        free(arena->block);
        arena->block = before;
    }
    arena->capacity = 0;
}

/// Adds a block of so many words in front of the others.
static void add_block(struct arena *arena, size_t words) {
    struct arena_block *block = alloc(sizeof *block + words * sizeof *block->words, 1);
    *block = (struct arena_block){.capacity = words, .before = arena->block};
    arena->block = block;
    arena->capacity += words;
}

void arena_clear(struct arena *arena) {
    if (!arena->block) return;
    const size_t words = arena->capacity;
    // Several blocks were needed: one of their size takes their place, so that it does not happen again.
    if (arena->block->before) {
        arena_close(arena);
        add_block(arena, words);
    }
    arena->block->used = 0;
}

uint32_t *arena_take(struct arena *arena, size_t count) {
    enum { first_capacity = 16 }; // words: a line of the cache; blocks double from there on
    if (!arena->block || arena->block->capacity - arena->block->used < count) {
        // The new block is as large as all before, and has room for two such pieces.
        const size_t least = arena->capacity < first_capacity ? first_capacity : arena->capacity;
        add_block(arena, 2 * count < least ? least : 2 * count);
    }
    uint32_t *piece = arena->block->words + arena->block->used;
    arena->block->used += count;
    return piece;
}
