/// \file
/// The spikes of a run, kept on each rank for spikes.npy: 8 bytes for each, only where the description
/// asks for them.

#pragma once

#include "base/spike.h"
#include <stdbool.h>
#include <stddef.h>

/// Spikes of this rank, in the order in which they were collocated.
struct trace {
    bool wanted;            ///< false: trace_add() does nothing
    size_t count, capacity; ///< spikes, and for how many there is room
    uint32_t (*spikes)[2];  ///< [count] gid and step; owned
};

/// Appends the spikes of a thread in a cycle.
void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n);
