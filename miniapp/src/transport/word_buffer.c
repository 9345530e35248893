/// \file
/// Makes room twice as large as is asked for, so that a buffer seldom moves (alloc_room()).

#include "transport/word_buffer.h"

#include "base/alloc.h"
#include <stdlib.h>

void word_buffer_reserve(struct word_buffer *buffer, size_t words) {
    buffer->words = alloc_room(buffer->words, &buffer->capacity, words, sizeof *buffer->words);
}

void word_buffer_close(struct word_buffer *buffer) {
    free(buffer->words);
}
