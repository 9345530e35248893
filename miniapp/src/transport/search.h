/// \file
/// Finds the lists of broadcast spikes.
///
/// A broadcast names the neuron that fired by its number on its rank, since one word serves all receivers.
/// Each of them searches its own sources for that number and drops spikes for which it has no synapses.
/// MUSIC's collective exchange and NEURON's work like this.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// The sources of this rank's lists, by the rank that owns them.
struct search {
    int ranks;     ///< of the lane
    size_t *first; ///< [ranks + 1] what rank r owns is source[first[r]] up to source[first[r + 1]]
    /// The number of a neuron on its own rank, and of its list here.
    struct searched {
        uint32_t number; ///< of the neuron among those of its rank
        uint32_t list;   ///< number of its list on this rank
    } * source;          ///< sorted by number for each rank
};

/// What stands for no list: no rank has so many.
enum { search_nothing = UINT32_MAX };

/// `per_owner` says how many lists the sources on each rank have. Call search_add() for each of them, then
/// search_sort().
void search_open(struct search *search, int ranks, const uint32_t *per_owner);
void search_add(struct search *search, int rank, uint32_t number, uint32_t list);
void search_sort(struct search *search);
void search_close(struct search *search);

/// Returns the list of neuron `number` on `rank`, or search_nothing.
uint32_t search_list(const struct search *search, int rank, uint32_t number);

/// Returns the bytes of the search; 0 for one that was never opened.
size_t search_bytes(const struct search *search);
