/// \file
/// Energy of the whole node from the counters of Cray systems, in whole joules, ten times a second.

#include "measurement/sysfs.h"
#include <math.h>
#include <stdio.h>

static const struct meter_quantity quantities[] = {{"energy", "J"}, {NULL, NULL}};

struct pm_counters {
    uint64_t first_j, last_j;
};

static void open_counters(struct meter_handle *handle, const struct meter_request *request) {
    struct pm_counters *counters = handle->own;
    char path[sysfs_path_max], reason[meter_reason_max];
    if (!sysfs_join(path, request->root, "cray/pm_counters/energy"))
        return meter_fail(handle, meter_unavailable, "%s: too long a path", request->root);
    enum meter_status status = sysfs_number(path, "J", &counters->first_j, reason);
    if (status != meter_ok) return meter_fail(handle, status, "%s", reason);
    counters->last_j = counters->first_j;
    struct meter_channel *channel = meter_add(handle, "node", "J");
    snprintf(channel->event, sizeof channel->event, "%s", path);
}

static double value_now(struct pm_counters *counters, struct meter_channel *channel) {
    char reason[meter_reason_max];
    uint64_t now;
    if (channel->status != meter_ok) return NAN;
    if (sysfs_number(channel->event, "J", &now, reason) != meter_ok) return meter_missed(channel, reason);
    if (now < counters->last_j) // nothing says that it wraps around
        return meter_lose(channel, "%s: fell from %llu J to %llu J", channel->event,
                          (unsigned long long)counters->last_j, (unsigned long long)now);
    counters->last_j = now;
    return (double)(now - counters->first_j);
}

static void read_counters(struct meter_handle *handle, double *value) {
    *value = value_now(handle->own, &handle->channel[0]);
}

const struct meter meter_pm_counters = {
    .name = "pm_counters",
    .summary = "energy of the node (Cray), from cray/pm_counters",
    .scope = meter_of_node,
    .quantities = quantities,
    .size = sizeof(struct pm_counters),
    .open = open_counters,
    .read = read_counters,
};
