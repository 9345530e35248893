/// \file
/// Finds how many bits of a word a place and a weight class need, and refuses what does not fit.

#include "synapse/synapse.h"

bool synapse_format(struct synapse_format *format, uint32_t neurons, uint32_t longest_delay,
                    const int32_t *weights, uint32_t classes, struct error *error) {
    // A place needs room for all delays from 0 to the longest one, times the neurons.
    const unsigned place = bits_for(((uint64_t)longest_delay + 1) * neurons);
    const unsigned weight = bits_for(classes);
    *format = (struct synapse_format){
        .neurons = neurons, .place_bits = place > 0 ? place : 1, .classes = classes, .weights = weights};
    format->used_bits = format->place_bits + weight;
    // Delivery adds a row to a place in 32 bits, so the place has to leave one.
    if (place <= 31 && format->used_bits <= 32) return true;
    return error_set(
        error,
        "network: %u neurons per thread x %u delays, %u bits, and %u weights, %u bits, do not fit "
        "a synapse; expected 31 bits, 32 in all, so take more ranks or threads, or fewer classes "
        "of weights",
        neurons, longest_delay + 1, place, classes ? classes : 1, weight);
}
