/// \file
/// Counts of what exchanges hand to MPI for other ranks: messages, bytes, and for composed exchanges
/// words of each level.

#pragma once

#include <stdint.h>

/// All levels together, of one exchange.
struct traffic {
    uint64_t messages; ///< an MPI collective counts as one to each rank that gets something, even of 0 bytes
    uint64_t bytes;    ///< of payload, counts and padding included; nothing that MPI adds
};

/// Of one level of an exchange that is composed of others. Words are those of spikes, without what the
/// exchange adds.
struct level_traffic {
    uint64_t connections; ///< ranks that this one sends messages to
    uint64_t messages;    ///< as in struct traffic
    uint64_t words;       ///< of spikes
    uint64_t bytes;       ///< as in struct traffic
};

/// Adds the counts, but takes the larger number of connections.
static inline void level_traffic_add(struct level_traffic *sum, const struct level_traffic *one) {
    if (one->connections > sum->connections) sum->connections = one->connections;
    sum->messages += one->messages;
    sum->words += one->words;
    sum->bytes += one->bytes;
}
