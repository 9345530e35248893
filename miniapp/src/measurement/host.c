/// \file
/// Reads the topology with hwloc, and names, caches, clocks and quotas from /proc and /sys.
///
/// host_read() asks, in this order: gethostname() and uname(), /proc/cpuinfo, hwloc (sockets, cores, caches,
/// to what the process is bound), the control groups (quota.c), and sysconf() for the memory.
/// frequency_read() goes through cpufreq of every processor, and is called for one rank of each node only,
/// since it opens three files for each.
///
/// Cost: some milliseconds, once for each rank, after the cycles have been run.

#include "measurement/host.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/// Reads the first word of a file of cpufreq, such as "performance" or "3400000". \return false where it
/// cannot be read.
static bool read_word(const char *sysfs, long processor, const char *name, char word[64]) {
    char path[400];
    snprintf(path, sizeof path, "%.250s/devices/system/cpu/cpu%ld/cpufreq/%s", sysfs, processor, name);
    FILE *file = fopen(path, "r");
    const bool read = file && fscanf(file, "%63s", word) == 1;
    if (file) fclose(file);
    return read;
}

void frequency_read(struct frequency *frequency, const char *sysfs) {
    char word[64];
    memset(frequency, 0, sizeof *frequency);
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        char *list = frequency->governor;
        const size_t used = strlen(list), room = sizeof frequency->governor - used;
        if (read_word(sysfs, cpu, "scaling_governor", word) && !strstr(list, word) &&
            strlen(word) + 3 <= room)
            snprintf(list + used, room, "%s%s", used ? ", " : "", word);
        // The limits are in kHz; 0 stands for not read yet. A node may have processors of several kinds, so
        // the lowest and the highest of all count.
        uint64_t *low = &frequency->low_hz, *high = &frequency->high_hz, hz;
        if (read_word(sysfs, cpu, "scaling_min_freq", word) &&
            ((hz = 1000 * strtoull(word, NULL, 10)) < *low || *low == 0))
            *low = hz;
        if (read_word(sysfs, cpu, "scaling_max_freq", word) && (hz = 1000 * strtoull(word, NULL, 10)) > *high)
            *high = hz;
    }
}

/// Returns the size in bytes of the first cache of a level; 0 where there is none.
static uint64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t level) {
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, level, 0);
    return cache ? cache->attr->cache.size : 0;
}

/// Reads to which hardware threads and cores this process is bound: by mpirun, by Slurm, or by a control
/// group. A core is named by its first hardware thread, so that lists of several ranks can be compared.
static void read_binding(struct host *host, hwloc_topology_t topology) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc(), cores = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0) {
        for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));)
            if (hwloc_bitmap_intersects(core->cpuset, set))
                hwloc_bitmap_set(cores, (unsigned)hwloc_bitmap_first(core->complete_cpuset));
        hwloc_bitmap_list_snprintf(host->binding, sizeof host->binding, set);
        hwloc_bitmap_list_snprintf(host->usable_cores, sizeof host->usable_cores, cores);
    }
    hwloc_bitmap_free(cores);
    hwloc_bitmap_free(set);
}

/// Reads sockets, cores and caches with hwloc. Where hwloc fails, they stay 0, which stands for unknown.
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
    // Which kernel it is.
    struct utsname names;
    if (uname(&names) == 0)
        snprintf(host->system, sizeof host->system, "%.60s %.100s %.60s", names.sysname, names.release,
                 names.machine);
    // The name of the processor, and whether a hypervisor stands between it and us.
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    while (file && fgets(line, sizeof line, file) && line[0] != '\n') { // the first processor is enough
        if (host->cpu[0] == '\0') sscanf(line, "model name : %255[^\n]", host->cpu);
        if (strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor")) host->virtual_machine = true;
    }
    if (file) fclose(file);
    // What hwloc and the control groups say.
    read_topology(host);
    quota_read(&host->quota, "");
    host->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
