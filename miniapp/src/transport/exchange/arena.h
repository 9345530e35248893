/// \file
/// Room for the words that arrive in a window, taken piece by piece and given back all at once. Its size
/// follows the words of a window, however many ranks they come from. Cost: one allocation until a window
/// is larger than all before.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// Blocks of words, the last one first. In an arena set to zero there is no room yet.
struct arena {
    struct arena_block {
        size_t used;                ///< words taken
        size_t capacity;            ///< words of the block
        struct arena_block *before; ///< full; NULL where one block was enough
        uint32_t words[];           ///< [capacity]
    } * block;
    size_t capacity; ///< words of all blocks
};

/// Frees all blocks.
void arena_close(struct arena *arena);

/// Gives back all pieces. Where the last window needed several blocks, one as large as all takes their place.
void arena_clear(struct arena *arena);

/// Returns a piece of `count` words, which stays where it is until arena_clear().
uint32_t *arena_take(struct arena *arena, size_t count);
