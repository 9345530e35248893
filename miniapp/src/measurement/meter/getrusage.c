/// \file
/// What the system counts for every thread: processor time, page faults, context switches. This needs no
/// privilege and one system call for all of them.

#include "measurement/meter.h"
#include <stdio.h>
#include <sys/resource.h>

static const struct meter_quantity quantities[] = {{"user_time", "s"},
                                                   {"system_time", "s"},
                                                   {"minor_faults", "count"},
                                                   {"major_faults", "count"},
                                                   {"voluntary_switches", "count"},
                                                   {"involuntary_switches", "count"},
                                                   {NULL, NULL}};

static const char *const fields[] = {"ru_utime",  "ru_stime", "ru_minflt",
                                     "ru_majflt", "ru_nvcsw", "ru_nivcsw"};

static void open_usage(struct meter_handle *handle, const struct meter_request *request) {
    (void)request;
    for (int i = 0; quantities[i].name; i++) {
        struct meter_channel *channel = meter_add(handle, quantities[i].name, quantities[i].unit);
        snprintf(channel->event, sizeof channel->event, "RUSAGE_THREAD %s", fields[i]);
    }
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static void read_usage(struct meter_handle *handle, double *value) {
    (void)handle;
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    const double now[] = {seconds(usage.ru_utime), seconds(usage.ru_stime), (double)usage.ru_minflt,
                          (double)usage.ru_majflt, (double)usage.ru_nvcsw,  (double)usage.ru_nivcsw};
    for (int i = 0; quantities[i].name; i++) value[i] = now[i];
}

const struct meter meter_getrusage = {
    .name = "getrusage",
    .summary = "processor time, page faults and context switches of every thread, always",
    .scope = meter_of_thread,
    .quantities = quantities,
    .open = open_usage,
    .read = read_usage,
};
