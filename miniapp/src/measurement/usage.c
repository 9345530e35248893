#include "measurement/usage.h"

#include "measurement/simulated.h"
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t usage_peak_bytes(void) {
    if (time_is_simulated) return 0;
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
    if (time_is_simulated) return NAN;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct usage_node usage_node_seconds(void) {
    if (time_is_simulated) return (struct usage_node){NAN, NAN};
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
    FILE *file = fopen("/proc/stat", "r");
    int n = file ? fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
                          &iowait, &irq, &softirq, &steal)
                 : 0;
    if (file) fclose(file);
    if (n != 8) return (struct usage_node){NAN, NAN};
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    return (struct usage_node){tick * (double)(user + nice + system + irq + softirq), tick * (double)steal};
}

struct usage_thread usage_thread_now(void) {
    struct timespec used = {0, 0};
    struct rusage usage;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    getrusage(RUSAGE_THREAD, &usage);
    return (struct usage_thread){(double)used.tv_sec + 1e-9 * (double)used.tv_nsec, (double)usage.ru_nivcsw,
                                 (double)usage.ru_nvcsw, (double)(usage.ru_minflt + usage.ru_majflt)};
}
