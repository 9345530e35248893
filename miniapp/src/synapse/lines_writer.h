/// \file
/// Writes the lines of a table, list after list, while its buckets are sorted. It holds only the lists
/// whose group is not complete, so that building needs little memory on top of what stays.

#pragma once

#include "synapse/table.h"

/// What is written so far, and the lists that wait until their group is complete.
struct lines_writer {
    struct synapse_table *table;
    uint32_t *starts;    ///< [n + 1] list l of these has synapses starts[l] up to starts[l + 1] of the table
    uint32_t *words;     ///< the synapses of these lists, without names
    uint32_t *named;     ///< the synapses of a line of very many, with names
    uint32_t n, n_words; ///< lists that wait, and their words
    uint32_t room, room_words; ///< for them in `starts` and `words`
    uint32_t groups;           ///< written
};

/// Begins the lines of a table whose format, index and size are there. Further words go to `further`, which
/// must not be needed for anything else up to the last synapse that was handed over.
void lines_writer_open(struct lines_writer *writer, struct synapse_table *table, uint32_t *further);

/// Makes room for some more lists, to be put at starts[n], one more than lists, and words[n_words].
void lines_writer_reserve(struct lines_writer *writer, uint32_t lists, uint32_t words);

/// Takes over what was put there, and writes the groups that are complete.
void lines_writer_add(struct lines_writer *writer, uint32_t lists, uint32_t words);

/// Writes what is left, and gives back the memory that the table does not need.
void lines_writer_close(struct lines_writer *writer);
