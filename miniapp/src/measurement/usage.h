/// \file
/// What the process and the machine have used: memory, processor time, foreign load. In simulated time none
/// of this is known for a rank.

#ifndef MEASUREMENT_USAGE_H
#define MEASUREMENT_USAGE_H

#include <stdint.h>

/// Returns the resident high-water mark of this process in bytes; 0 where the system does not tell.
uint64_t usage_peak_bytes(void);

/// Returns the processor time of this process and its threads so far, in seconds; NAN where it is unknown.
double usage_process_seconds(void);

/// The time that the processors of this node have spent on anything, and the time that a hypervisor took
/// away.
struct usage_node {
    double busy_s, stolen_s; ///< since boot, summed over processors; NAN where the system does not tell
};

struct usage_node usage_node_seconds(void);

/// What the kernel has counted for the calling thread since it began.
struct usage_thread {
    double cpu_s;                  ///< processor time, which does not pass while something else has its core
    double involuntary, voluntary; ///< context switches: taken from its core, and waiting of its own
    double faults;                 ///< page faults
};

/// Reads the counts of the calling thread, which takes about a microsecond.
struct usage_thread usage_thread_now(void);

#endif
