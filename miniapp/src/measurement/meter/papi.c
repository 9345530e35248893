/// \file
/// Hardware counters through PAPI and, where there are none, events of the kernel.
///
/// PAPI offers events that cannot be counted afterwards, so only what PAPI_add_event() returns can be
/// trusted. Each quantity has candidates that mean the same, which are tried in order. An event that stands
/// in for no other has a name of its own.

#include "measurement/meter.h"
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_PAPI
#include <papi.h>
#endif

static const struct meter_quantity quantities[] = {
    {"instructions", "count"},      {"cycles", "count"},
    {"last_level_misses", "count"}, {"l1_misses", "count"},
    {"stalled_cycles", "count"},    {"task_clock", "ns"},
    {"page_faults", "count"},       {"context_switches", "count"},
    {"cpu_migrations", "count"},    {NULL, NULL}};

enum { n_hardware = 5 };

struct papi {
    int events; ///< PAPI's event set
    bool running;
    int place[meter_channels_max]; ///< in the event set, of each channel; -1: not counted
};

static bool asked_for(const struct meter_request *request, int q) {
    if (!request->names) return q < n_hardware;
    for (int i = 0; i < request->n_names; i++)
        if (strcmp(request->names[i], quantities[q].name) == 0) return true;
    return false;
}

/// Adds a channel for everything that was asked for, none of which is counted.
static void fail(struct meter_handle *handle, const struct meter_request *request, enum meter_status status,
                 const char *what, const char *why) {
    struct papi *papi = handle->own;
    handle->n_channels = 0;
    for (int q = 0; quantities[q].name; q++) {
        if (!asked_for(request, q)) continue;
        struct meter_channel *channel = meter_add(handle, quantities[q].name, quantities[q].unit);
        papi->place[handle->n_channels - 1] = -1;
        channel->status = status;
        snprintf(channel->reason, sizeof channel->reason, "%s: %s", what, why ? why : "failed");
    }
}

#ifdef HAVE_PAPI

enum { candidates_max = 4 };

static const char *const candidates[][candidates_max] = {
    {"PAPI_TOT_INS", "perf::INSTRUCTIONS", "INST_RETIRED:ANY_P"},
    {"PAPI_TOT_CYC", "perf::CYCLES", "CPU_CLK_UNHALTED:THREAD_P"},
    {"PAPI_L3_TCM", "perf::CACHE-MISSES", "LONGEST_LAT_CACHE:MISS"},
    {"PAPI_L1_DCM", "perf::L1-DCACHE-LOAD-MISSES", "L1D:REPLACEMENT"},
    {"PAPI_RES_STL", "perf::STALLED-CYCLES-BACKEND", "CYCLE_ACTIVITY:STALLS_TOTAL"},
    {"perf::TASK-CLOCK"},
    {"perf::PAGE-FAULTS"},
    {"perf::CONTEXT-SWITCHES:u=1:k=1"}, // in the kernel; without that these two are always 0
    {"perf::CPU-MIGRATIONS:u=1:k=1"},
};

static enum meter_status status_of(int code) {
    return code == PAPI_EPERM ? meter_denied : meter_unavailable;
}

/// Says why an event does not count here what its name says; NULL where it does. On AMD the cache misses of
/// the kernel are those of the second level (event 0x64, in all families from 17h).
static const char *misnomer(const char *event) {
    const PAPI_hw_info_t *hardware = PAPI_get_hardware_info();
    const bool amd = hardware && hardware->vendor == PAPI_VENDOR_AMD;
    return amd && strcmp(event, "perf::CACHE-MISSES") == 0 ? "counts the second level on AMD" : NULL;
}

/// Says whether the kernel lists a device of counters of the processor, such as "cpu", "cpu_core" or
/// "armv8_pmuv3_0"; also true where nobody can tell.
static bool has_pmu(void) {
    DIR *devices = opendir("/sys/bus/event_source/devices");
    if (!devices) return true;
    bool found = false;
    for (const struct dirent *entry; (entry = readdir(devices));)
        found = found || strncmp(entry->d_name, "cpu", strlen("cpu")) == 0 || strstr(entry->d_name, "pmu");
    closedir(devices);
    return found;
}

/// Adds the first candidate that can be counted.
static void add_quantity(struct meter_handle *handle, int q) {
    struct papi *papi = handle->own;
    struct meter_channel *channel = meter_add(handle, quantities[q].name, quantities[q].unit);
    size_t length = 0;
    papi->place[handle->n_channels - 1] = -1;
    channel->status = meter_unavailable;
    if (q < n_hardware && !has_pmu())
        length = (size_t)snprintf(channel->reason, sizeof channel->reason, METER_NO_PMU "; ");
    for (int c = 0; c < candidates_max && candidates[q][c]; c++) {
        const char *wrong = misnomer(candidates[q][c]);
        int code, result = wrong ? PAPI_ENOEVNT : PAPI_event_name_to_code(candidates[q][c], &code);
        if (result == PAPI_OK) result = PAPI_add_event(papi->events, code);
        if (result == PAPI_OK) {
            papi->place[handle->n_channels - 1] = PAPI_num_events(papi->events) - 1;
            snprintf(channel->event, sizeof channel->event, "%s", candidates[q][c]);
            channel->reason[0] = '\0';
            channel->status = meter_ok;
            return;
        }
        if (status_of(result) == meter_denied) channel->status = meter_denied;
        if (length < sizeof channel->reason)
            length +=
                (size_t)snprintf(channel->reason + length, sizeof channel->reason - length, "%s%s: %s",
                                 c ? "; " : "", candidates[q][c], wrong ? wrong : PAPI_strerror(result));
    }
}

static int counted(const struct meter_handle *handle) {
    int n = 0;
    for (int i = 0; i < handle->n_channels; i++) n += handle->channel[i].status == meter_ok;
    return n;
}

static void open_papi(struct meter_handle *handle, const struct meter_request *request) {
    struct papi *papi = handle->own;
    papi->events = PAPI_NULL;
    if (!PAPI_is_initialized()) {
        const int version = PAPI_library_init(PAPI_VER_CURRENT);
        if (version != PAPI_VER_CURRENT || PAPI_thread_init(pthread_self) != PAPI_OK)
            return fail(handle, request, meter_unavailable, "PAPI_library_init", PAPI_strerror(version));
    }
    const PAPI_component_info_t *kernel = PAPI_get_component_info(PAPI_get_component_index("perf_event"));
    if (kernel && kernel->disabled)
        return fail(handle, request,
                    strstr(kernel->disabled_reason, "paranoid") ? meter_denied : meter_unavailable,
                    "perf_event", kernel->disabled_reason);
    int result = PAPI_create_eventset(&papi->events);
    if (result != PAPI_OK)
        return fail(handle, request, meter_unavailable, "PAPI_create_eventset", PAPI_strerror(result));
    for (int q = 0; quantities[q].name; q++)
        if (asked_for(request, q)) add_quantity(handle, q);
    if (!request->names && counted(handle) == 0)
        for (int q = n_hardware; quantities[q].name; q++) add_quantity(handle, q);
    if (counted(handle) == 0) return;
    result = PAPI_start(papi->events);
    papi->running = result == PAPI_OK;
    if (!papi->running) fail(handle, request, status_of(result), "PAPI_start", PAPI_strerror(result));
}

static void read_papi(struct meter_handle *handle, double *value) {
    struct papi *papi = handle->own;
    long long now[meter_channels_max];
    const bool read = papi->running && PAPI_read(papi->events, now) == PAPI_OK;
    for (int i = 0; i < handle->n_channels; i++)
        value[i] = read && papi->place[i] >= 0 ? (double)now[papi->place[i]] : NAN;
}

static void close_papi(struct meter_handle *handle) {
    struct papi *papi = handle->own;
    long long last[meter_channels_max];
    if (papi->running) PAPI_stop(papi->events, last);
    if (papi->events == PAPI_NULL) return;
    PAPI_cleanup_eventset(papi->events);
    PAPI_destroy_eventset(
        &papi->events); // not PAPI_unregister_thread(): the thread may have another meter open
}

#else

static void open_papi(struct meter_handle *handle, const struct meter_request *request) {
    fail(handle, request, meter_unavailable, "papi", handle->meter->absent);
}

static void read_papi(struct meter_handle *handle, double *value) {
    for (int i = 0; i < handle->n_channels; i++) value[i] = NAN;
}

#define close_papi NULL

#endif

const struct meter meter_papi = {
    .name = "papi",
    .summary = "instructions, cycles, cache misses and stalls by phase and thread; events of the kernel "
               "where there are none",
#ifndef HAVE_PAPI
    .absent = "built without PAPI (libpapi-dev)",
#endif
    .scope = meter_of_thread,
    .quantities = quantities,
    .size = sizeof(struct papi),
    .open = open_papi,
    .read = read_papi,
    .close = close_papi,
};
