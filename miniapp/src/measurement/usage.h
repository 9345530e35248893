/// \file
/// What the process and its node have used: memory, processor time, and what others took away. In
/// simulated time none of this is known for a rank (simulated/platform.c, chosen when linking).

#pragma once

#include <stdint.h>

/// Returns the resident high-water mark of this process in bytes; 0 where the system does not tell.
uint64_t usage_peak_bytes(void);

/// Returns the processor time of this process and its threads so far, in seconds; NAN where it is unknown.
double usage_process_seconds(void);

/// The time that the processors of this node have spent on anything, the time that a hypervisor took away,
/// and the time that quotas took away from the control groups of this process.
struct usage_node {
    double busy_s;      ///< since boot, summed over processors; NAN where the system does not tell
    double stolen_s;    ///< likewise
    double throttled_s; ///< as in struct quota
};

/// Returns these times until now. Those of one node are the same for all of its ranks.
struct usage_node usage_node_seconds(void);
