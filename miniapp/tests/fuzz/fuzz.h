/// \file
/// What fuzz targets share. A target is a function that takes any bytes and ends the program where a promise
/// is broken. With clang, libFuzzer calls it (make fuzz); in the suite, corpus.c does.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// Tries one input. \return 0; it does not return where a promise is broken.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Ends the program unless `kept`, and says what was promised and what happened instead.
static inline void promise(bool kept, const char *promised, const char *instead) {
    if (kept) return;
    fprintf(stderr, "broken: %s: %s\n", promised, instead);
    abort();
}

/// The bytes of an input that have not been read yet.
struct bytes {
    const uint8_t *next;
    size_t left;
};

/// Returns the next byte; 0 at the end.
static inline uint8_t next_byte(struct bytes *bytes) {
    if (bytes->left == 0) return 0;
    bytes->left--;
    return *bytes->next++;
}

/// Returns the next four bytes as a word.
static inline uint32_t next_word(struct bytes *bytes) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word = word << 8 | next_byte(bytes);
    return word;
}

/// Returns a number from `low` to `high`, which differ by less than 65535.
static inline uint32_t next_number(struct bytes *bytes, uint32_t low, uint32_t high) {
    uint32_t number = next_byte(bytes);
    if (high - low > 255) number = number << 8 | next_byte(bytes);
    return low + number % (high - low + 1);
}
