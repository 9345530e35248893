/// \file
/// Reads what the process and the node have used from /proc and getrusage().
///
/// All counts are since the process or the node began; run/measured.c reads them before and after the
/// measured part and keeps the difference. From these, the record tells how many processors of the node were
/// busy with something else (foreign_load), and how much a hypervisor or a quota took away. Cost: some 50 us
/// for each reading, outside the time that is measured.

#include "measurement/usage.h"

#include "measurement/quota.h"
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t usage_peak_bytes(void) {
    // ru_maxrss would not do: it starts with the high-water mark of the process that launched this one.
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
    if (file) fclose(file);
    return kib * 1024;
}

double usage_process_seconds(void) {
    // Of all threads, user and system time together. Threads that spin at a barrier count as busy.
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct usage_node usage_node_seconds(void) {
    struct quota quota;
    quota_read(&quota, "");
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *file = fopen("/proc/stat", "r");
    // The first line of /proc/stat sums over all processors, in ticks since boot: `steal` is what a
    // hypervisor gave to others while a processor wanted to run, the next fields (guests) are in `user`
    // already.
    int n = file ? fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
                          &iowait, &irq, &softirq, &steal)
                 : 0;
    if (file) fclose(file);
    if (n != 8) return (struct usage_node){NAN, NAN, quota.throttled_s};
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    return (struct usage_node){tick * (double)(user + nice + system + irq + softirq), tick * (double)steal,
                               quota.throttled_s};
}
