/// \file
/// The filter of a table: a bit for each list, or for some neighbouring ones, that says whether the
/// thread has synapses of it. Most spikes that reach a rank of many threads need no look into the table.

#pragma once

#include "synapse/table.h"

/// Fetches the word of the filter for a spike into the second cache. What is on its way to the first cache
/// holds one of its few places for misses.
ALWAYS_INLINE void filter_fetch(const struct synapse_table *table, struct spike_format spikes,
                                uint32_t word) {
    __builtin_prefetch(&table->filter[(spike_list(spikes, word) >> table->index.filter_bits) / 64], 0, 2);
}

/// Copies the spikes that the filter of a table lets through to `passed`, which has room for all `n`.
/// \return how many they are.
static inline size_t filter_pass(const struct synapse_table *table, struct spike_format spikes,
                                 const uint32_t *words, size_t n, uint32_t *passed) {
    enum { ahead = 32 };                     // spikes
    const struct synapse_table own = *table; // stores could change what pointers lead to
    size_t m = 0;
    for (size_t i = 0; i < n && i < ahead; i++) filter_fetch(&own, spikes, words[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + ahead < n) filter_fetch(&own, spikes, words[i + ahead]);
        const uint32_t bit = spike_list(spikes, words[i]) >> own.index.filter_bits;
        // Each spike is stored, and the next one overwrites it unless its bit is set: no branch to foresee.
        passed[m] = words[i];
        m += own.filter[bit / 64] >> bit % 64 & 1;
    }
    return m;
}
