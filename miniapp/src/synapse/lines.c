#include "synapse/lines.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void lines_open(struct lines_writer *writer, struct synapse_table *table, uint32_t *further) {
    const struct synapse_index *index = &table->index;
    const double words = (double)table->size * (double)synapse_words(&table->format);
    // A group of w words has at most 1.5 w / fill lines and one, or as many as its names ask for.
    const double lines =
        1.5 * words / index->fill + 1.0 * index->lists / index->most_lists + 2.0 * index->groups;
    *writer = (struct lines_writer){.table = table};
    table->synapses = ALLOC(uint32_t, line_words * (size_t)(lines + 1));
    table->group = ALLOC(struct line_group, index->groups);
    table->further = further;
}

void lines_reserve(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    if (writer->n + lists > writer->room) {
        writer->room = writer->n + lists;
        writer->counts = alloc_more(writer->counts, writer->room, sizeof *writer->counts);
    }
    if (writer->n_words + words > writer->room_words) {
        writer->room_words = writer->n_words + words;
        writer->words = alloc_more(writer->words, writer->room_words, sizeof *writer->words);
    }
}

/// Writes one line of `lists` lists. \return their words.
static uint32_t write_line(struct synapse_table *table, const uint32_t *counts, uint32_t lists,
                           const uint32_t *words) {
    const uint32_t each = (uint32_t)synapse_words(&table->format);
    uint32_t n = 0;
    for (uint32_t l = 0; l < lists; l++) n += counts[l];
    n *= each;
    uint32_t *line = table->synapses + (size_t)line_words * table->lines++, *out = line;
    const uint32_t here = n > line_words ? line_words - each : n;
    uint32_t left = here; // words until the line is full
    for (uint32_t l = 0; l < lists; l++)
        for (uint32_t k = 0; k < counts[l]; k++, words += each, left -= each) {
            if (left == 0) {
                out = table->further + table->further_words;
                *out++ = left = n - here;
            }
            *out++ = words[0] | l << table->format.used_bits;
            if (each > 1) *out++ = words[1];
        }
    for (uint32_t k = here; k < line_words; k++) line[k] = line_free;
    if (n > here) {
        line[here] = line_link | table->further_words;
        table->further_words += 1 + n - here;
    }
    return n;
}

/// Writes the group of the first `lists` lists, which have `synapses` synapses.
static void write_group(struct lines_writer *writer, const uint32_t *counts, uint32_t lists,
                        const uint32_t *words, uint32_t n) {
    struct synapse_table *table = writer->table;
    const uint32_t share = synapse_index_share(&table->index, lists, n);
    table->group[writer->groups++] =
        (struct line_group){table->lines, share, (((uint64_t)1 << 32) + share - 1) / share};
    for (uint32_t first = 0; first < lists; first += share)
        words += write_line(table, counts + first, share < lists - first ? share : lists - first, words);
}

/// Writes the first groups: all but the last lists that do not fill one, or these, too.
static void write_groups(struct lines_writer *writer, bool all) {
    const uint32_t most = (uint32_t)1 << writer->table->index.group_bits;
    const uint32_t each = (uint32_t)synapse_words(&writer->table->format);
    uint32_t first = 0, first_word = 0;
    while (first < writer->n && (all || writer->n - first >= most)) {
        const uint32_t lists = writer->n - first < most ? writer->n - first : most;
        uint32_t words = 0;
        for (uint32_t l = 0; l < lists; l++) words += each * writer->counts[first + l];
        write_group(writer, writer->counts + first, lists, writer->words + first_word, words);
        first += lists;
        first_word += words;
    }
    writer->n -= first;
    writer->n_words -= first_word;
    if (writer->n > 0) memmove(writer->counts, writer->counts + first, writer->n * sizeof *writer->counts);
    if (writer->n_words > 0)
        memmove(writer->words, writer->words + first_word, writer->n_words * sizeof *writer->words);
}

void lines_add(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    writer->n += lists;
    writer->n_words += words;
    write_groups(writer, false);
}

void lines_close(struct lines_writer *writer) {
    struct synapse_table *table = writer->table;
    write_groups(writer, true);
    table->synapses = alloc_less(table->synapses, (size_t)line_words * table->lines, sizeof(uint32_t));
    table->further =
        alloc_less(table->further, (size_t)table->further_words + search_words, sizeof(uint32_t));
    free(writer->counts);
    free(writer->words);
}
