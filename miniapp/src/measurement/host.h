/// \file
/// The machine that a run ran on, as hwloc, /proc and cpufreq describe it.
///
/// A record says on which machine it was made, so that times can be compared with those of others. Nothing
/// here changes what a run does. What the system does not tell is unknown, never guessed.

#pragma once

#include "measurement/quota.h"
#include <stdbool.h>
#include <stdint.h>

/// How the kernel sets the clock frequency of the processors of a node.
struct frequency {
    char governor[128];       ///< of all processors; several names where they differ; "" where unknown
    uint64_t low_hz, high_hz; ///< the limits that are set, lowest and highest of all; 0 where unknown
};

/// Reads what cpufreq says of every processor. \param sysfs what is read in place of /sys.
void frequency_read(struct frequency *frequency, const char *sysfs);

/// One node, as the calling process sees it. Text is "" and numbers are 0 where unknown.
struct host {
    char name[128];                         ///< of the node
    char system[256];                       ///< kernel: name, release, architecture
    char cpu[256];                          ///< model of the first processor, as /proc/cpuinfo names it
    int sockets;                            ///< of this node
    int cores;                              ///< of this node, usable by this process or not
    int threads_per_core;                   ///< hardware threads
    uint64_t memory_bytes;                  ///< of the node
    uint64_t l1d_bytes, l2_bytes, l3_bytes; ///< of one cache of each level
    bool virtual_machine;                   ///< a hypervisor says that it is there
    struct quota quota;                     ///< as it is when this is read
    char binding[512];                      ///< hardware threads of this process, as a list: "0-3,8"
    char usable_cores[512];                 ///< their cores, each by the number of its first hardware thread
};

/// Fills in all of it. Never fails: what cannot be read stays unknown. Takes some milliseconds.
void host_read(struct host *host);
