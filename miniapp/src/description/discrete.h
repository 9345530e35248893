/// \file
/// Any distribution over 0, 1, ... n - 1, drawn with one 32-bit word and a table, without a loop that
/// redraws.
///
/// Each number is drawn by the words up to upper[number] that lie above those of the number before, so its
/// probability is right to 2^-32.

#ifndef DESCRIPTION_DISCRETE_H
#define DESCRIPTION_DISCRETE_H

#include <stdbool.h>
#include <stdint.h>

enum { discrete_guide_size = 256 };

struct discrete {
    uint32_t *upper;                     ///< [n]: largest word that draws this number
    uint32_t guide[discrete_guide_size]; ///< by the word's top byte: where the search starts
};

/// Opens the distribution that is proportional to probability[n]. Fails, with nothing to close, if all of
/// them are 0.
bool discrete_open(struct discrete *discrete, const double *probability, uint32_t n);

void discrete_close(struct discrete *discrete);

/// Returns the number that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t discrete_draw(const struct discrete *discrete, uint32_t word) {
    uint32_t i = discrete->guide[word >> 24];
    while (word > discrete->upper[i]) i++;
    return i;
}

#endif
