/// \file
/// Finds a broadcast neuron among the sources of a rank by bisection.
///
/// Sources stand rank by rank, and by their number within a rank. A spike says from which rank it came (its
/// run in the receive buffer) and the number of its neuron there, so only that rank's sources are looked at.
///
/// Cost: log2(sources from that rank) comparisons a word, each at random in memory. With exchanges that are
/// no broadcasts, the sender has looked up the list beforehand (routes.c). Memory: 8 bytes for each source.

#include "transport/search.h"

#include "base/alloc.h"
#include <stdlib.h>

/// Compares sources by number, for qsort().
static int by_number(const void *a, const void *b) {
    uint32_t x = ((const struct searched *)a)->number, y = ((const struct searched *)b)->number;
    return (x > y) - (x < y);
}

void search_open(struct search *search, int ranks, const uint32_t *per_owner) {
    *search = (struct search){.ranks = ranks, .first = ALLOC(size_t, (size_t)ranks + 1)};
    search->first[0] = 0;
    for (int rank = 0; rank < ranks; rank++) search->first[rank + 1] = search->first[rank] + per_owner[rank];
    search->source = ALLOC(struct searched, search->first[ranks]);
}

// While adding, first[r] is where the next source of rank r goes, so in the end that of rank r + 1.

void search_add(struct search *search, int rank, uint32_t number, uint32_t list) {
    search->source[search->first[rank]++] = (struct searched){number, list};
}

void search_sort(struct search *search) {
    // first[r] has become where the sources of r end: move all by one.
    for (int rank = search->ranks; rank > 0; rank--) search->first[rank] = search->first[rank - 1];
    search->first[0] = 0;
    for (int rank = 0; rank < search->ranks; rank++)
        qsort(search->source + search->first[rank], search->first[rank + 1] - search->first[rank],
              sizeof *search->source, by_number);
}

void search_close(struct search *search) {
    FREE(search->first, search->source);
}

uint32_t search_list(const struct search *search, int rank, uint32_t number) {
    // The first source of the rank whose number is not below.
    size_t low = search->first[rank], high = search->first[rank + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->source[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == search->first[rank + 1] || search->source[low].number != number) return search_nothing;
    return search->source[low].list;
}

size_t search_bytes(const struct search *search) {
    if (!search->first) return 0;
    return ((size_t)search->ranks + 1) * sizeof *search->first +
           search->first[search->ranks] * sizeof *search->source;
}
