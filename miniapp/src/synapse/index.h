/// \file
/// The index with which a table finds the synapses of a list: a start for every list, or lines and a
/// filter.
///
/// Where lists hold five synapses or more on the mean, a table has a start for every list. Below, it has
/// a cache line for every few neighbouring lists, as many as fill it on the mean, and the synapses of a
/// line name their list. How many lists share a line is the same for the 2^group_bits lists of a group.
/// Where lists hold less than a synapse on the mean, a filter of one bit for each list (or for some
/// neighbouring ones) says which spikes need not be looked up.
///
/// Memory: 4 bytes for each list with starts; lines and filter take at most 1.5 bytes per synapse on top
/// of it where a word has bits to spare.

#pragma once

#include "synapse/synapse.h"

/// The index with which a table finds its lists. It depends only on the numbers of lists and synapses.
struct synapse_index {
    uint32_t lists;      ///< of the rank, empty ones on this thread included
    uint32_t most_lists; ///< of a line; 0: no lines, but a start for every list
    uint32_t fill; ///< words of synapses for each line, on the mean; beyond its 16 they go to further words
    unsigned group_bits;   ///< a group has 2^group_bits lists, the last one fewer
    uint32_t groups;       ///< of lists; 0 without lines
    unsigned filter_bits;  ///< a bit of the filter stands for 2^filter_bits lists
    uint64_t filter_words; ///< of 64 bits; 0: no filter
};

/// Chooses the index of so many lists and synapses.
struct synapse_index synapse_index(const struct synapse_format *format, uint32_t lists, uint64_t synapses);

/// Returns the bytes that such an index takes on top of its synapses. With lines this is an expectation,
/// which takes all lists to be equally long on the mean. Differing ones take up to 8 % more or less, synapses
/// included.
double synapse_index_bytes(const struct synapse_index *index, const struct synapse_format *format,
                           uint64_t synapses);

/// Returns how many neighbouring lists share a line in a group of `lists` lists and `words` words.
uint32_t synapse_index_share(const struct synapse_index *index, uint32_t lists, double words);
