/// \file
/// A machine that SimGrid simulates: all ranks share one process, of which no rank's share is known.
///
/// So they share what they only read (app/job.c), exchanges are tested on up to 16 ranks only, where that
/// takes seconds, and memory and processor time of a rank stay unknown.

#include "measurement/platform.h"

#include "measurement/usage.h"
#include <math.h>

const struct platform platform = {
    .kind = "simulated", .one_process = true, .checked_ranks = 16, .passes_time = true};

/// Unknown, as what follows: the process is that of all ranks.
uint64_t usage_peak_bytes(void) {
    return 0;
}

double usage_process_seconds(void) {
    return NAN;
}

struct usage_node usage_node_seconds(void) {
    return (struct usage_node){NAN, NAN, NAN};
}
