#include "run/trace.h"

#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

void trace_open(struct trace *trace, bool wanted) {
    *trace = (struct trace){.wanted = wanted};
}

void trace_close(struct trace *trace) {
    free(trace->spikes);
}

void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n) {
    if (!trace->wanted || n == 0) return;
    if (trace->count + n > trace->capacity) {
        size_t capacity = 2 * (trace->count + n);
        void *grown = alloc(capacity, sizeof *trace->spikes);
        if (trace->count) memcpy(grown, trace->spikes, trace->count * sizeof *trace->spikes);
        free(trace->spikes);
        trace->spikes = grown;
        trace->capacity = capacity;
    }
    for (uint32_t i = 0; i < n; i++) {
        trace->spikes[trace->count][0] = spikes[i].gid;
        trace->spikes[trace->count++][1] = spikes[i].step;
    }
}
