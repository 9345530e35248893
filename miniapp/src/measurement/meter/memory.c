/// \file
/// The most memory that the process has held.

#include "measurement/meter.h"
#include "measurement/usage.h"
#include <math.h>
#include <stdio.h>

static const struct meter_quantity quantities[] = {{"resident_peak", "byte"}, {NULL, NULL}};

static void open_memory(struct meter_handle *handle, const struct meter_request *request) {
    (void)request;
    struct meter_channel *channel = meter_add(handle, quantities[0].name, quantities[0].unit);
    snprintf(channel->event, sizeof channel->event, "/proc/self/status VmHWM");
    if (usage_peak_bytes() > 0) return;
    channel->status = meter_unavailable;
    snprintf(channel->reason, sizeof channel->reason, "/proc/self/status has no line VmHWM");
}

static void read_memory(struct meter_handle *handle, double *value) {
    (void)handle;
    const double bytes = (double)usage_peak_bytes();
    *value = bytes > 0 ? bytes : NAN;
}

const struct meter meter_memory = {
    .name = "memory",
    .summary = "resident high-water mark of every process, always",
    .scope = meter_of_process,
    .quantities = quantities,
    .open = open_memory,
    .read = read_memory,
};
