/// \file
/// The machine that a run ran on, as hwloc and the system describe it.

#ifndef MEASUREMENT_HOST_H
#define MEASUREMENT_HOST_H

#include <stdbool.h>
#include <stdint.h>

enum { host_threads_max = 1024 }; ///< of a node; further ones are not in a core_set

/// Cores of a node, each named by the number of its first hardware thread, which is the same for all
/// processes of the node, whatever they are allowed to use.
struct core_set {
    uint64_t word[host_threads_max / 64];
};

static inline bool core_set_has(const struct core_set *set, int core) {
    return set->word[core / 64] >> core % 64 & 1;
}

struct host {
    char name[128], system[256], cpu[256];
    int sockets, cores, threads_per_core;                 ///< of this node
    int usable_cores;                                     ///< cores that this process may run on; 0: unknown
    struct core_set usable;                               ///< which ones
    uint64_t memory_bytes, l1d_bytes, l2_bytes, l3_bytes; ///< per cache; 0 where unknown
    bool virtual_machine;
    char binding[512]; ///< hardware threads of this process, as a list: "0-3,8"
};

void host_read(struct host *host);

#endif
