/// \file
/// What the process and the machine used: memory, processor time, foreign load. In simulated time nothing of
/// this is known of a rank.

#ifndef MEASUREMENT_USAGE_H
#define MEASUREMENT_USAGE_H

#include <stdint.h>

/// The resident high-water mark of this process in bytes; 0 where the system does not tell.
uint64_t usage_peak_bytes(void);

/// Processor time of this process and its threads so far, in seconds; NAN where unknown.
double usage_process_seconds(void);

/// Time that the processors of this node have spent on anything, and what a hypervisor took away.
struct usage_node {
    double busy_s, stolen_s; ///< since boot, summed over processors; NAN where the system does not tell
};

struct usage_node usage_node_seconds(void);

#endif
