#include "measurement/host.h"

#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static uint64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t level) {
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, level, 0);
    return cache ? cache->attr->cache.size : 0;
}

/// Reads the model of the processor, and whether it runs under a hypervisor, from /proc/cpuinfo.
static void read_cpuinfo(struct host *host) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    while (file && fgets(line, sizeof line, file)) {
        if (host->cpu[0] == '\0') sscanf(line, "model name : %255[^\n]", host->cpu);
        if (strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor")) host->virtual_machine = true;
        if (line[0] == '\n') break; // the first processor is enough
    }
    if (file) fclose(file);
}

/// Finds the hardware threads of this process, and their cores.
static void read_binding(struct host *host, hwloc_topology_t topology) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_list_snprintf(host->binding, sizeof host->binding, set);
        for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
            const int first = hwloc_bitmap_first(core->complete_cpuset);
            if (!hwloc_bitmap_intersects(core->cpuset, set)) continue;
            host->usable_cores++;
            if (first >= 0 && first < host_threads_max)
                host->usable.word[first / 64] |= UINT64_C(1) << first % 64;
        }
    }
    hwloc_bitmap_free(set);
}

static void read_topology(struct host *host) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) == 0) {
        host->sockets = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
        host->cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
        host->threads_per_core = host->cores > 0 ? threads / host->cores : 1;
        host->l1d_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
        host->l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
        host->l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
        read_binding(host, topology);
    }
    hwloc_topology_destroy(topology);
}

void host_read(struct host *host) {
    memset(host, 0, sizeof *host);
    gethostname(host->name, sizeof host->name - 1);
    struct utsname names;
    if (uname(&names) == 0)
        snprintf(host->system, sizeof host->system, "%.60s %.100s %.60s", names.sysname, names.release,
                 names.machine);
    read_cpuinfo(host);
    read_topology(host);
    host->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
