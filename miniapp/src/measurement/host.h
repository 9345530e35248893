/// \file
/// The machine that a run ran on, as hwloc, /proc and cpufreq describe it.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// How the kernel sets the clock frequency of the processors of a node.
struct frequency {
    char governor[128];       ///< of all processors; several names where they differ; "" where unknown
    uint64_t low_hz, high_hz; ///< the limits that are set, lowest and highest of all; 0 where unknown
};

/// Reads what cpufreq says of every processor. \param sysfs what is read in place of /sys.
void frequency_read(struct frequency *frequency, const char *sysfs);

struct host {
    char name[128], system[256], cpu[256];
    int sockets, cores, threads_per_core;                 ///< of this node
    uint64_t memory_bytes, l1d_bytes, l2_bytes, l3_bytes; ///< per cache; 0 where unknown
    bool virtual_machine;
    char binding[512];      ///< hardware threads of this process, as a list: "0-3,8"
    char usable_cores[512]; ///< their cores, each by the number of its first hardware thread
};

void host_read(struct host *host);

// -------------------- usage
// What the process and the machine have used: memory, processor time, foreign load. In simulated time none
// of this is known for a rank.

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
