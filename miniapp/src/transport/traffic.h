/// \file
/// Counts of what exchanges hand to MPI for other ranks.

#ifndef TRANSPORT_TRAFFIC_H
#define TRANSPORT_TRAFFIC_H

#include <stdint.h>

struct traffic {
    uint64_t messages, bytes;
};

/// Of one level of an exchange that is composed of others. Words are those of spikes, without what the
/// exchange adds.
struct level_traffic {
    uint64_t connections; ///< ranks that this one sends messages to
    uint64_t messages, words, bytes;
};

#endif
