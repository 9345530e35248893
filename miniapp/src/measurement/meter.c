#include "measurement/meter.h"

#include "base/alloc.h"
#include "measurement/simulated.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct meter meter_papi, meter_getrusage, meter_memory, meter_powercap, meter_pm_counters,
    meter_hwmon;

const struct meter *const meters[] = {&meter_papi,        &meter_getrusage, &meter_memory, &meter_powercap,
                                      &meter_pm_counters, &meter_hwmon,     NULL};

const char *meter_status_name(enum meter_status status) {
    static const char *const names[] = {"ok", "unavailable", "denied"};
    return names[status];
}

/// Takes the values from all channels in simulated time: meters would read the one process that simulates all
/// ranks, not the ranks.
static void lose_all(struct meter_handle *handle) {
    static const char reason[] = "simulated: all ranks share one process";
    const int n = handle->n_channels;
    if (handle->meter->scope == meter_of_node) meter_fail(handle, meter_unavailable, reason);
    for (int i = 0; i < n; i++) {
        handle->channel[i].status = meter_unavailable;
        snprintf(handle->channel[i].reason, sizeof handle->channel[i].reason, "%s", reason);
    }
}

void meter_open(struct meter_handle *handle, const struct meter *meter, const struct meter_request *request) {
    memset(handle, 0, sizeof *handle);
    handle->meter = meter;
    handle->own = alloc_zero(meter->size, 1);
    meter->open(handle, request);
    if (time_is_simulated) lose_all(handle);
}

void meter_read(struct meter_handle *handle, double *value) {
    for (int i = 0; time_is_simulated && i < handle->n_channels; i++) value[i] = NAN;
    if (!time_is_simulated && handle->n_channels > 0) handle->meter->read(handle, value);
}

void meter_close(struct meter_handle *handle) {
    if (!handle->meter) return;
    if (handle->meter->close) handle->meter->close(handle);
    free(handle->own);
    memset(handle, 0, sizeof *handle);
}

struct meter_channel *meter_add(struct meter_handle *handle, const char *name, const char *unit) {
    if (handle->n_channels < meter_channels_max) handle->n_channels++;
    struct meter_channel *channel = &handle->channel[handle->n_channels - 1];
    *channel = (struct meter_channel){.status = meter_ok};
    snprintf(channel->name, sizeof channel->name, "%s", name);
    for (char *c = channel->name; *c; c++)
        if (*c == ',' || *c == '"') *c = ' '; // since it becomes a field of a table
    snprintf(channel->unit, sizeof channel->unit, "%s", unit);
    return channel;
}

double meter_missed(struct meter_channel *channel, const char *reason) {
    snprintf(channel->reason, sizeof channel->reason, "%s", reason);
    channel->failed++;
    channel->in_a_row++;
    return NAN;
}

double meter_lose(struct meter_channel *channel, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(channel->reason, sizeof channel->reason, format, arguments);
    va_end(arguments);
    channel->status = meter_unavailable;
    return NAN;
}

void meter_fail(struct meter_handle *handle, enum meter_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(handle->reason, sizeof handle->reason, format, arguments);
    va_end(arguments);
    handle->status = status;
    handle->n_channels = 0;
}
