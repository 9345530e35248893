/// \file
/// Room for the words that arrive in a window, taken piece by piece and given back all at once. Its size
/// follows the words of a window, however many ranks they come from.

#ifndef TRANSPORT_EXCHANGE_ARENA_H
#define TRANSPORT_EXCHANGE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/// In an arena set to zero there is no room yet.
struct arena {
    struct arena_block {
        size_t used, capacity;      ///< words
        struct arena_block *before; ///< full; NULL where one block was enough
        uint32_t words[];
    } * block;
};

/// Gives back all pieces. Where the last window needed several blocks, one as large as all takes their place.
void arena_clear(struct arena *arena);

/// Returns a piece of `count` words, which stays where it is until arena_clear().
uint32_t *arena_take(struct arena *arena, size_t count);

/// Gives back the last `count` words of the piece that was taken last.
void arena_give_back(struct arena *arena, size_t count);

size_t arena_bytes(const struct arena *arena);
void arena_close(struct arena *arena);

#endif
