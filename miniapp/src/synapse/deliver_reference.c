/// \file
/// What delivery computes, in plain lines: for each spike, each synapse of the list that it names adds its
/// weight to the input of its target, in the step of the spike plus the delay.
///
/// deliver.c does the same faster. The tests compare both, and `delivery: reference` in a run description
/// chooses this one, so that the mini-app can stand for a simulator whose delivery is not tuned. Cost: one
/// access to memory after the other for each spike, and a division for each synapse; nothing is fetched
/// ahead.

#include "synapse/table.h"

/// Adds the weight of one synapse to the input of its target.
static void add_input(const struct synapse_format *format, const uint32_t *synapse, uint32_t step,
                      struct ring *ring) {
    // A word holds class | place, and place = delay x neurons + target.
    const uint32_t place = *synapse & (((uint32_t)1 << format->place_bits) - 1);
    const uint32_t used = (uint32_t)(*synapse & (((uint64_t)1 << format->used_bits) - 1));
    const uint32_t target = place % format->neurons, delay = place / format->neurons;
    // The row of the ring for the step in which the input arrives.
    const uint32_t row = (uint32_t)(((uint64_t)step + delay) % ring->slots),
                   cell = row * ring->neurons + target;
    const int32_t weight =
        format->classes == 0 ? (int32_t)synapse[1] : format->weights[used >> format->place_bits];
    if (ring->narrow)
        ((int16_t *)ring->cells)[cell] = (int16_t)(((int16_t *)ring->cells)[cell] + weight);
    else
        ((int32_t *)ring->cells)[cell] += weight;
}

/// Adds those of `n` words that belong to a list, by its name in the line. \return how many synapses they
/// are.
static uint32_t add_named(const struct synapse_format *format, const uint32_t *words, size_t n, uint32_t name,
                          uint32_t step, struct ring *ring) {
    uint32_t synapses = 0;
    for (size_t i = 0; i < n; i += synapse_words(format)) {
        if (words[i] >> format->used_bits != name)
            continue; // also free words and links, which no list is called by
        add_input(format, words + i, step, ring);
        synapses++;
    }
    return synapses;
}

/// Adds a list from its line, and from the further words to which the line may end in a link.
static uint32_t add_from_line(const struct synapse_table *table, uint32_t list, uint32_t step,
                              struct ring *ring) {
    const struct synapse_format *format = &table->format;
    const unsigned bits = table->index.group_bits;
    // Which line holds the list, and under which name.
    const struct line_place place =
        line_place(&table->group[list >> bits], list & (((uint32_t)1 << bits) - 1));
    const uint32_t *words = table->synapses + (size_t)line_words * place.line;
    uint32_t synapses = add_named(format, words, line_words, place.name, step, ring);
    // Where the line was too short, its last synapse is a link to further words, the first of which counts
    // them.
    const uint32_t link = words[line_words - synapse_words(format)];
    if (link == line_free || link < line_link) return synapses;
    const uint32_t *further = table->further + (link & ~line_link);
    return synapses + add_named(format, further + 1, *further, place.name, step, ring);
}

/// Adds a list from where it starts.
static uint32_t add_from_start(const struct synapse_table *table, uint32_t list, uint32_t step,
                               struct ring *ring) {
    for (uint32_t i = table->start[list]; i < table->start[list + 1]; i++)
        add_input(&table->format, table->synapses + i * synapse_words(&table->format), step, ring);
    return table->start[list + 1] - table->start[list];
}

struct delivered deliver_reference(const struct synapse_table *table, const uint32_t *words, size_t n,
                                   struct spike_format spikes, uint32_t first_step, struct ring *ring) {
    struct delivered delivered = {0, 0, 0};
    for (size_t i = 0; i < n && table->size > 0; i++) {
        const uint32_t list = spike_list(spikes, words[i]);
        const uint32_t step = first_step + spike_step(spikes, words[i]);
        const uint32_t synapses =
            table->start ? add_from_start(table, list, step, ring) : add_from_line(table, list, step, ring);
        delivered.synaptic_events += synapses;
        delivered.first_accesses += synapses > 0;
        delivered.lookups++;
    }
    return delivered;
}
