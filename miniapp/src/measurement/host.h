/// \file
/// The machine that a run ran on, as hwloc and the system describe it.

#ifndef MEASUREMENT_HOST_H
#define MEASUREMENT_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct host {
    char name[128], system[256], cpu[256];
    int sockets, cores, threads_per_core;                 ///< of this node
    int usable_threads;                                   ///< hardware threads that this process may run on
    uint64_t memory_bytes, l1d_bytes, l2_bytes, l3_bytes; ///< per cache; 0 where unknown
    bool virtual_machine;
    char binding[512]; ///< hardware threads of this process, as a list: "0-3,8"
};

void host_read(struct host *host);

#endif
