/// \file
/// Writes lines of 16 words.
///
/// Lists come in the order of their numbers, some at a time (lines_writer_add()). When those of a group
/// are complete, write_group() decides how many of them share a line, so that lines are full on the mean, and
/// write_line() writes one line after the other: each synapse gets the name of its list on top, and what does
/// not fit goes to the further words, with a link as the last synapse of the line.
///
/// The loops read and write some words too many rather than branch on the length of lists, which cannot be
/// foreseen. Cost: about two copies of each synapse. Memory: the lists of one group, on top of the lines.

#include "synapse/lines_writer.h"

#include "base/alloc.h"
#include <string.h>

enum {
    step = 8,                   // words that are named at a time, and so may be read beyond the last
    most_words = 4 * line_words // of a line and what does not fit it, which are written where lines follow
};

void lines_writer_open(struct lines_writer *writer, struct synapse_table *table, uint32_t *further) {
    const struct synapse_index *index = &table->index;
    const double words = (double)table->size * (double)synapse_words(&table->format);
    // A group of w words has at most 1.5 w / fill lines and one, or as many as its names ask for.
    const double lines =
        1.5 * words / index->fill + 1.0 * index->lists / index->most_lists + 2.0 * index->groups;
    *writer = (struct lines_writer){.table = table};
    table->synapses = ALLOC(uint32_t, line_words * (size_t)(lines + 1) + most_words + step);
    table->group = ALLOC(struct line_group, index->groups);
    table->further = further;
}

void lines_writer_reserve(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    if (writer->n + lists + 1 > writer->room) {
        writer->room = writer->n + lists + 1;
        writer->starts = alloc_more(writer->starts, writer->room, sizeof *writer->starts);
    }
    if (writer->n_words + words + step > writer->room_words) {
        writer->room_words = writer->n_words + words + step;
        writer->words = alloc_more(writer->words, writer->room_words, sizeof *writer->words);
    }
}

/// Writes `step` words with a name on top.
ALWAYS_INLINE void name_some(uint32_t *restrict named, const uint32_t *restrict words, uint32_t name,
                             const size_t words_of_one) {
    for (size_t k = 0; k < step; k++) named[k] = words[k] | (k % words_of_one ? 0 : name);
}

/// Writes the words of some lists to `named`, with the name of their list: always `step` words of a list, of
/// which later lists overwrite those that are not its own. So no branch depends on lists of up to `step`
/// words, whose lengths cannot be foreseen.
ALWAYS_INLINE void name_words(uint32_t *restrict named, const uint32_t *starts, uint32_t lists,
                              const uint32_t *restrict words, unsigned used_bits, const size_t words_of_one) {
    const uint32_t first = starts[0];
    size_t at = 0;
    for (uint32_t l = 0; l < lists; l++) {
        const size_t end = (starts[l + 1] - first) * words_of_one;
        name_some(named + at, words + at, l << used_bits, words_of_one);
        for (at += step; __builtin_expect(at < end, 0); at += step)
            name_some(named + at, words + at, l << used_bits, words_of_one);
        at = end;
    }
}

/// Writes one line of `lists` lists, which begin and end at starts[0 ... lists]. \return their words.
static uint32_t write_line(struct lines_writer *writer, const uint32_t *starts, uint32_t lists,
                           const uint32_t *words) {
    struct synapse_table *table = writer->table;
    const size_t each = synapse_words(&table->format), n = each * (starts[lists] - starts[0]);
    uint32_t *line = table->synapses + (size_t)line_words * table->lines++, *named = line;
    if (n > most_words) { // what is beyond the line does not fit behind it
        writer->named = alloc_more(writer->named, n + step, sizeof *named);
        named = writer->named;
    }
    // All synapses with their names, straight into the line; what is beyond it is moved away below.
    if (each == 1)
        name_words(named, starts, lists, words, table->format.used_bits, 1);
    else
        name_words(named, starts, lists, words, table->format.used_bits, 2);
    // They fit.
    if (n <= line_words) {
        for (size_t k = n; k < line_words; k++) line[k] = line_free;
        return (uint32_t)n;
    }
    // They do not: the last place of the line becomes a link to the others, which come after their number.
    const size_t here = line_words - each;
    uint32_t *further = table->further + table->further_words;
    *further = (uint32_t)(n - here);
    memcpy(further + 1, named + here, (n - here) * sizeof *further);
    if (named != line) memcpy(line, named, here * sizeof *line);
    line[here] = line_link | table->further_words;
    if (each > 1) line[here + 1] = line_free;
    table->further_words += (uint32_t)(1 + n - here);
    return (uint32_t)n;
}

/// Writes the group of the first `lists` lists. \return their words.
static uint32_t write_group(struct lines_writer *writer, const uint32_t *starts, uint32_t lists,
                            const uint32_t *words) {
    struct synapse_table *table = writer->table;
    const uint32_t n = (uint32_t)synapse_words(&table->format) * (starts[lists] - starts[0]);
    const uint32_t share = synapse_index_share(&table->index, lists, n);
    // The group says where its lines begin; the reciprocal makes a division by its share a multiplication.
    table->group[writer->groups++] =
        (struct line_group){table->lines, share, (((uint64_t)1 << 32) + share - 1) / share};
    for (uint32_t first = 0; first < lists; first += share)
        words += write_line(writer, starts + first, share < lists - first ? share : lists - first, words);
    return n;
}

/// Writes the first groups: all but the last lists that do not fill one, or these, too.
static void write_groups(struct lines_writer *writer, bool all) {
    const uint32_t most = (uint32_t)1 << writer->table->index.group_bits;
    uint32_t first = 0, word = 0;
    while (first < writer->n && (all || writer->n - first >= most)) {
        const uint32_t lists = writer->n - first < most ? writer->n - first : most;
        word += write_group(writer, writer->starts + first, lists, writer->words + word);
        first += lists;
    }
    // What does not fill a group moves to the front and waits for the next lists.
    writer->n -= first;
    writer->n_words -= word;
    memmove(writer->starts, writer->starts + first, (writer->n + (size_t)1) * sizeof *writer->starts);
    if (writer->n_words > 0)
        memmove(writer->words, writer->words + word, writer->n_words * sizeof *writer->words);
}

void lines_writer_add(struct lines_writer *writer, uint32_t lists, uint32_t words) {
    writer->n += lists;
    writer->n_words += words;
    write_groups(writer, false);
}

void lines_writer_close(struct lines_writer *writer) {
    struct synapse_table *table = writer->table;
    write_groups(writer, true);
    table->synapses = alloc_less(table->synapses, (size_t)line_words * table->lines, sizeof(uint32_t));
    table->further =
        alloc_less(table->further, (size_t)table->further_words + words_beyond, sizeof(uint32_t));
    FREE(writer->starts, writer->words, writer->named);
}
