/// \file
/// A run of words in memory of its own, which grows to the largest window and is kept: exchanges receive into
/// one, and a lane translates or joins words in one. Memory: 4 bytes for each word, up to twice as many as
/// the largest window had.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// The memory. One that was set to zero is empty.
struct word_buffer {
    uint32_t *words; ///< [capacity] owned
    size_t capacity; ///< words
};

/// Makes room for so many words. What was there stays, but may move.
void word_buffer_reserve(struct word_buffer *buffer, size_t words);
/// Frees the words.
void word_buffer_close(struct word_buffer *buffer);
