/// \file
/// Any distribution over 0, 1, ... n - 1, drawn with one 32-bit word and a table, without a loop that
/// redraws.
///
/// Each number is drawn by the words up to upper[number] that lie above those of the number before, so
/// its probability is right to 2^-32. Memory: 4 bytes for each number, and 1 KiB.
///
/// Example: 0, 1 and 2 with probabilities 1/2, 1/4, 1/4 have upper = 0x7fffffff, 0xbfffffff, 0xffffffff. The
/// word 0x90000000 draws 1: it is above the first and not above the second.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Entries of the guide, one for each top byte of a word. With n numbers of similar probability a search then
/// takes about n / 256 steps; a guide twice as large would halve that and take another KiB of the cache.
enum { discrete_guide_size = 256 };

/// The table of a distribution.
struct discrete {
    uint32_t *upper;                     ///< [n]: largest word that draws this number; owned
    uint32_t guide[discrete_guide_size]; ///< by the word's top byte: where the search starts
};

/// Returns the number that `word` draws; `word` is uniform over 32 bits.
static inline uint32_t discrete_draw(const struct discrete *discrete, uint32_t word) {
    uint32_t i = discrete->guide[word >> 24];
    while (word > discrete->upper[i]) i++;
    return i;
}

/// Opens the distribution that is proportional to probability[n], which need not add up to 1. Fails, with
/// nothing to close, if all of them are 0. The caller frees `upper`.
bool discrete_open(struct discrete *discrete, const double *probability, uint32_t n);
