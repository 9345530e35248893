/// \file
/// The spikes of a run, kept on each rank for spikes.npy.

#ifndef RUN_TRACE_H
#define RUN_TRACE_H

#include "base/spike.h"
#include <stdbool.h>
#include <stddef.h>

/// The spikes of one rank.
struct trace {
    bool wanted;
    size_t count, capacity;
    uint32_t (*spikes)[2]; ///< [count] gid and step
};

/// Opens an empty trace, which keeps spikes only if they are `wanted`. Close it in any case.
void trace_open(struct trace *trace, bool wanted);
void trace_close(struct trace *trace);

/// Keeps the spikes, if they are wanted.
void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n);

#endif
