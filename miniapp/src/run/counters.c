/// \file
/// Reads hardware counters by PAPI and the counts of the system by getrusage, for each thread.
///
/// counters_open() lets every thread open an event set of its own and try, for each quantity that is asked
/// for, the names of events one after the other until one can be counted. Where a quantity cannot be counted,
/// the reason is kept and goes into the record: no permission (perf_event_paranoid), or no such event. If no
/// hardware counter works and none was named, events of the kernel take their place.
///
/// counters_mark() is called by a thread at the end of each phase and adds the difference since its last
/// mark to that phase. Cost: one PAPI_read() for each phase, thread and cycle; counters_open() measures how
/// long one takes (read_s). Memory: some 8 KB for each thread, most of it reasons. Without PAPI, the three
/// functions that use it are replaced by ones that say so.

#include "run/counters.h"

#include "base/alloc.h"
#include "base/registry.h"
#include "measurement/clock.h"
#include "measurement/platform.h"
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#ifdef HAVE_PAPI
#include <papi.h>
#endif

// clang-format off
const struct quantity quantities[quantities_max] = {
    {"instructions",         "count", "papi", {"PAPI_TOT_INS", "perf::INSTRUCTIONS", "INST_RETIRED:ANY_P"}},
    {"cycles",               "count", "papi", {"PAPI_TOT_CYC", "perf::CYCLES", "CPU_CLK_UNHALTED:THREAD_P"}},
    {"last_level_misses",    "count", "papi", {"PAPI_L3_TCM", "perf::CACHE-MISSES", "LONGEST_LAT_CACHE:MISS"}},
    {"l1_misses",            "count", "papi", {"PAPI_L1_DCM", "perf::L1-DCACHE-LOAD-MISSES", "L1D:REPLACEMENT"}},
    {"stalled_cycles",       "count", "papi",
     {"PAPI_RES_STL", "perf::STALLED-CYCLES-BACKEND", "CYCLE_ACTIVITY:STALLS_TOTAL"}},
    {"task_clock",           "ns",    "papi", {"perf::TASK-CLOCK"}},
    {"page_faults",          "count", "papi", {"perf::PAGE-FAULTS"}},
    {"context_switches",     "count", "papi", {"perf::CONTEXT-SWITCHES:u=1:k=1"}}, // without k always 0,
    {"cpu_migrations",       "count", "papi", {"perf::CPU-MIGRATIONS:u=1:k=1"}},   // as this one
    {"user_time",            "s",     "getrusage", {"RUSAGE_THREAD ru_utime"}},
    {"system_time",          "s",     "getrusage", {"RUSAGE_THREAD ru_stime"}},
    {"minor_faults",         "count", "getrusage", {"RUSAGE_THREAD ru_minflt"}},
    {"major_faults",         "count", "getrusage", {"RUSAGE_THREAD ru_majflt"}},
    {"voluntary_switches",   "count", "getrusage", {"RUSAGE_THREAD ru_nvcsw"}},
    {"involuntary_switches", "count", "getrusage", {"RUSAGE_THREAD ru_nivcsw"}},
    {"resident_peak",        "byte",  "memory", {"/proc/self/status VmHWM"}},
};
// clang-format on

#ifdef HAVE_PAPI
#define NO_PAPI NULL
#else
#define NO_PAPI "built without PAPI (libpapi-dev)"
#endif
const struct meter *const meters[] = {
    ENTRY(
        meter, "papi",
        "instructions, cycles, cache misses and stalls by phase and thread; events of the kernel where there "
        "are none",
        "thread", NO_PAPI),
    ENTRY(meter, "getrusage", "processor time, page faults and context switches of every thread, always",
          "thread", NULL),
    ENTRY(meter, "memory", "resident high-water mark of every process, always", "process", NULL), NULL};

/// Returns the number of the quantity of PAPI that has this name; papi_quantities if there is none.
static int find_quantity(const char *name) {
    int q = 0;
    while (q < papi_quantities && strcmp(quantities[q].name, name) != 0) q++;
    return q;
}

bool counters_check(const struct description *description, struct error *error) {
    struct name_list names = {"", 0};
    for (int q = 0; q < papi_quantities; q++) name_list_add(&names, quantities[q].name);
    for (int i = 0; i < description->n_counters; i++)
        if (find_quantity(description->counters[i]) == papi_quantities)
            return error_set(error, "record.counters.%d: \"%.60s\"; expected one of %s", i,
                             description->counters[i], names.text);
    return true;
}

/// Says whether the description wants a quantity of PAPI. Without a list, it wants the hardware counters.
static bool asked_for(const struct description *description, int q) {
    if (description->n_counters == 0) return q < papi_hardware;
    for (int i = 0; i < description->n_counters; i++)
        if (find_quantity(description->counters[i]) == q) return true;
    return false;
}

#ifdef HAVE_PAPI

/// Adds the first event of a quantity that can be counted.
static void add_quantity(struct thread_counters *own, int q) {
    // On AMD the cache misses of the kernel are those of the second level (event 0x64, all families from
    // 17h).
    const PAPI_hw_info_t *hardware = PAPI_get_hardware_info();
    const bool amd = hardware && hardware->vendor == PAPI_VENDOR_AMD;
    struct count *count = &own->count[q];
    *count = (struct count){.wanted = true, .status = count_unavailable, .event = -1};
    size_t length = 0;
    for (int e = 0; e < events_max && quantities[q].events[e]; e++) {
        const char *event = quantities[q].events[e];
        // An event may exist and count something else on this processor.
        const char *wrong =
            amd && strcmp(event, "perf::CACHE-MISSES") == 0 ? "counts the second level on AMD" : NULL;
        int code, result = wrong ? PAPI_ENOEVNT : PAPI_event_name_to_code(event, &code);
        if (result == PAPI_OK) result = PAPI_add_event(own->events, code);
        if (result == PAPI_OK) {
            own->place[q] = PAPI_num_events(own->events) - 1;
            *count = (struct count){.wanted = true, .event = e};
            return;
        }
        if (result == PAPI_EPERM) count->status = count_denied;
        // The reasons of all names that were tried go into the record.
        if (length < reason_max)
            length += (size_t)snprintf(count->reason + length, reason_max - length, "%s%s: %s", e ? "; " : "",
                                       event, wrong ? wrong : PAPI_strerror(result));
    }
}

/// Opens the event set of the thread. \return NULL, or why nothing can be counted.
static const char *open_events(struct thread_counters *own) {
    if (!PAPI_is_initialized()) {
        // PAPI is initialised once for the process and told how to tell threads apart.
        const int version = PAPI_library_init(PAPI_VER_CURRENT);
        if (version != PAPI_VER_CURRENT || PAPI_thread_init(pthread_self) != PAPI_OK)
            return "PAPI_library_init failed";
    }
    // Where the kernel forbids counting, PAPI knows why.
    const PAPI_component_info_t *kernel = PAPI_get_component_info(PAPI_get_component_index("perf_event"));
    if (kernel && kernel->disabled) return kernel->disabled_reason;
    const int result = PAPI_create_eventset(&own->events);
    return result == PAPI_OK ? NULL : PAPI_strerror(result);
}

/// Returns how many of the quantities that are wanted are counted.
static int count_good(const struct thread_counters *own) {
    int n = 0;
    for (int q = 0; q < papi_quantities; q++) n += own->count[q].wanted && own->count[q].status == count_ok;
    return n;
}

/// Chooses events, and starts to count. \return as above.
static const char *start_events(struct thread_counters *own, const struct description *description) {
    const char *why = open_events(own);
    if (why) return why;
    for (int q = 0; q < papi_quantities; q++)
        if (asked_for(description, q)) add_quantity(own, q);
    // Nobody named counters and none of the hardware works, as on many virtual machines.
    if (description->n_counters == 0 && count_good(own) == 0)
        for (int q = papi_hardware; q < papi_quantities; q++) add_quantity(own, q);
    if (count_good(own) == 0) return NULL;
    const int result = PAPI_start(own->events);
    own->running = result == PAPI_OK;
    return own->running ? NULL : PAPI_strerror(result);
}

/// Reads all quantities, in their unit; NAN where one is not counted.
static void read_papi(const struct thread_counters *own, double value[papi_quantities]) {
    long long now[papi_quantities];
    const bool read = own->running && PAPI_read(own->events, now) == PAPI_OK;
    for (int q = 0; q < papi_quantities; q++)
        value[q] = read && own->place[q] >= 0 ? (double)now[own->place[q]] : NAN;
}

/// Stops counting and frees the event set of the thread.
static void close_papi(struct thread_counters *own) {
    long long last[papi_quantities];
    if (own->running) PAPI_stop(own->events, last);
    if (own->events == PAPI_NULL) return;
    PAPI_cleanup_eventset(own->events);
    PAPI_destroy_eventset(&own->events);
}

#else

enum { PAPI_NULL = -1 };

static const char *start_events(struct thread_counters *own, const struct description *description) {
    (void)own, (void)description;
    return NO_PAPI;
}

static void read_papi(const struct thread_counters *own, double value[papi_quantities]) {
    (void)own;
    for (int q = 0; q < papi_quantities; q++) value[q] = NAN;
}

static void close_papi(struct thread_counters *own) {
    (void)own;
}

#endif

/// Marks the quantities below `end` that are wanted as lost.
static void lose(struct thread_counters *own, int end, const char *why) {
    const enum count_status status = strstr(why, "paranoid") ? count_denied : count_unavailable;
    for (int q = 0; q < end; q++) {
        if (!own->count[q].wanted) continue;
        own->count[q] = (struct count){.wanted = true, .status = status, .event = -1};
        snprintf(own->count[q].reason, reason_max, "%.390s", why);
    }
}

/// Opens the counters of the calling thread. \return them, owned by the caller.
static struct thread_counters *open_thread(const struct description *description) {
    struct thread_counters *own = ALLOC_ZERO(struct thread_counters, 1);
    own->events = PAPI_NULL;
    for (int q = 0; q < papi_quantities; q++) own->place[q] = -1;
    for (int q = 0; q < quantities_max; q++)
        own->count[q].wanted =
            q >= quantity_usage || (description->record_counters && asked_for(description, q));
    const char *why =
        description->record_counters && platform.has_hosts ? start_events(own, description) : NULL;
    if (why) lose(own, papi_quantities, why);
    if (!platform.has_hosts) lose(own, quantities_max, "simulated: all ranks share one process");
    return own;
}

/// Returns a time of getrusage in seconds.
static double seconds(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/// Reads what the system has counted for the calling thread, in the order of `quantities`.
static void read_usage(double value[usage_quantities]) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    const double now[] = {seconds(usage.ru_utime), seconds(usage.ru_stime), (double)usage.ru_minflt,
                          (double)usage.ru_majflt, (double)usage.ru_nvcsw,  (double)usage.ru_nivcsw};
    memcpy(value, now, sizeof now);
}

void counters_open(struct counters *counters, const struct description *description, int threads) {
    *counters = (struct counters){.threads = threads};
    counters->thread = ALLOC_ZERO(struct thread_counters *, (size_t)threads);
#pragma omp parallel num_threads(threads)
#pragma omp critical
    counters->thread[omp_get_thread_num()] = open_thread(description);
    for (int t = 0; t < threads; t++)
        for (int q = 0; q < papi_quantities; q++) {
            const struct count *count = &counters->thread[t]->count[q];
            counters->by_phase |= count->wanted && count->status == count_ok;
        }
    // How long reading takes, for the share of the run that it costs (counter_overhead).
    enum { reads = 1000 };
    double value[papi_quantities];
    const double start = clock_now();
    for (int i = 0; counters->by_phase && i < reads; i++) read_papi(counters->thread[0], value);
    counters->read_s = counters->by_phase ? (clock_now() - start) / reads : NAN;
}

void counters_close(struct counters *counters) {
    if (!counters->thread) return;
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = counters->thread[omp_get_thread_num()];
#pragma omp critical
        close_papi(own);
        free(own);
    }
    free(counters->thread);
    *counters = (struct counters){0};
}

void counters_start(struct counters *counters) {
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = counters->thread[omp_get_thread_num()];
        memset(own->counted, 0, sizeof own->counted);
        memset(own->marks, 0, sizeof own->marks);
        if (counters->by_phase) read_papi(own, own->last);
        read_usage(own->used);
    }
}

void counters_stop(struct counters *counters) {
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = counters->thread[omp_get_thread_num()];
        double now[usage_quantities];
        read_usage(now);
        for (int i = 0; i < usage_quantities; i++) own->used[i] = now[i] - own->used[i];
    }
}

void counters_mark(struct counters *counters, int thread, int phase) {
    struct thread_counters *own = counters->thread[thread];
    double now[papi_quantities];
    read_papi(own, now);
    for (int q = 0; q < papi_quantities; q++) {
        own->counted[phase][q] += now[q] - own->last[q];
        own->last[q] = now[q];
    }
    own->marks[phase]++;
}
