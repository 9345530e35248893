/// \file
/// Finds the lists of broadcast spikes.
///
/// A broadcast names the neuron that fired by its number on its rank, since one word serves all receivers.
/// Each of them searches its own sources for that number and drops spikes for which it has no synapses.
/// MUSIC's collective exchange and NEURON's work like this.

#pragma once

#include <stddef.h>
#include <stdint.h>

struct search {
    int ranks;
    size_t *first; ///< [ranks + 1] what rank r owns is source[first[r]] up to source[first[r + 1]]
    struct searched {
        uint32_t number, list;
    } * source; ///< sorted by number for each rank
};

enum { search_nothing = UINT32_MAX };

/// `per_owner` says how many lists the sources on each rank have. Call search_add() for each of them, then
/// search_sort().
void search_open(struct search *search, int ranks, const uint32_t *per_owner);
void search_add(struct search *search, int rank, uint32_t number, uint32_t list);
void search_sort(struct search *search);
void search_close(struct search *search);

/// Returns the list of neuron `number` on `rank`, or search_nothing.
uint32_t search_list(const struct search *search, int rank, uint32_t number);

size_t search_bytes(const struct search *search);
