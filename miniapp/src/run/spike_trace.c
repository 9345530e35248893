/// \file
/// Keeps the spikes of a thread in an array that doubles.

#include "run/spike_trace.h"

#include "base/alloc.h"

void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n) {
    if (!trace->wanted || n == 0) return;
    trace->spikes = alloc_room(trace->spikes, &trace->capacity, trace->count + n, sizeof *trace->spikes);
    for (uint32_t i = 0; i < n; i++) {
        trace->spikes[trace->count][0] = spikes[i].gid;
        trace->spikes[trace->count++][1] = spikes[i].step;
    }
}
