#include "run/counters.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/// Lists what a meter can tell.
static struct name_list list_quantities(const struct meter *meter) {
    struct name_list list = {"", 0};
    for (int q = 0; meter->quantities[q].name; q++) name_list_add(&list, meter->quantities[q].name);
    return list;
}

static bool is_quantity(const struct meter *meter, const char *name) {
    for (int q = 0; meter->quantities[q].name; q++)
        if (strcmp(meter->quantities[q].name, name) == 0) return true;
    return false;
}

bool counters_check(const struct description *description, struct error *error) {
    const struct meter *papi = meter_find("papi");
    for (int i = 0; i < description->n_counters; i++)
        if (!is_quantity(papi, description->counters[i]))
            return error_set(error, "record.counters.%d: \"%.60s\"; allowed: %s", i, description->counters[i],
                             list_quantities(papi).text);
    return true;
}

static struct meter_request wanted(const struct description *description) {
    return (struct meter_request){.names = description->n_counters > 0 ? description->counters : NULL,
                                  .n_names = description->n_counters};
}

/// Opens the meters of all threads, one thread after the other.
static void open_all(struct counters *counters, const struct description *description) {
    const struct meter_request request = wanted(description);
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = ALLOC_ZERO(struct thread_counters, 1);
        counters->thread[omp_get_thread_num()] = own;
#pragma omp critical
        {
            meter_open(&own->usage, meter_find("getrusage"), &request);
            if (description->record_counters) meter_open(&own->papi, meter_find("papi"), &request);
        }
    }
}

/// Lists all counters that the calling thread can read.
static struct name_list list_readable(void) {
    const struct meter *papi = meter_find("papi");
    const char *names[meter_channels_max];
    struct meter_request all = {.names = names};
    while (papi->quantities[all.n_names].name) {
        names[all.n_names] = papi->quantities[all.n_names].name;
        all.n_names++;
    }
    struct meter_handle *handle = ALLOC(struct meter_handle, 1);
    meter_open(handle, papi, &all);
    struct name_list list = {"", 0};
    for (int i = 0; i < handle->n_channels; i++)
        if (handle->channel[i].status == meter_ok) name_list_add(&list, handle->channel[i].name);
    if (list.length == 0) name_list_add(&list, "none");
    meter_close(handle);
    free(handle);
    return list;
}

/// Refuses the first counter that was asked for and cannot be read.
static void require_all(struct counters *counters, struct error *error) {
    for (int t = 0; t < counters->threads; t++) {
        const struct meter_handle *papi = &counters->thread[t]->papi;
        for (int i = 0; i < papi->n_channels; i++) {
            if (papi->channel[i].status == meter_ok) continue;
            const struct meter_channel channel = papi->channel[i];
            meter_close(&counters->thread[0]->papi); // a thread counts with one meter at a time
            error_set(error, "--require-counters: %s is %s (%s); what exists here: %s", channel.name,
                      meter_status_name(channel.status), channel.reason, list_readable().text);
            return;
        }
    }
}

/// Returns what one reading costs the calling thread with its own counters, as a mean over many.
static double cost(struct counters *counters) {
    enum { reads = 1000 };
    if (!counters->by_phase) return NAN;
    double value[meter_channels_max];
    const double start = clock_now();
    for (int i = 0; i < reads; i++) meter_read(&counters->thread[0]->papi, value);
    return (clock_now() - start) / reads;
}

void counters_open(struct counters *counters, const struct description *description, int threads,
                   bool require, struct error *error) {
    *counters = (struct counters){.threads = threads};
    counters->thread = ALLOC_ZERO(struct thread_counters *, (size_t)threads);
    open_all(counters, description);
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < counters->thread[t]->papi.n_channels; i++)
            counters->by_phase |= counters->thread[t]->papi.channel[i].status == meter_ok;
    counters->read_s = cost(counters);
    if (require && !description->record_counters)
        error_set(error, "--require-counters: record.counters is false; allowed: true or a list of names");
    else if (require)
        require_all(counters, error);
}

void counters_close(struct counters *counters) {
    if (!counters->thread) return;
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = counters->thread[omp_get_thread_num()];
#pragma omp critical
        {
            meter_close(&own->papi);
            meter_close(&own->usage);
        }
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
        meter_read(&own->papi, own->last);
        meter_read(&own->usage, own->used);
    }
}

void counters_stop(struct counters *counters) {
#pragma omp parallel num_threads(counters->threads)
    {
        struct thread_counters *own = counters->thread[omp_get_thread_num()];
        double now[meter_channels_max];
        meter_read(&own->usage, now);
        for (int i = 0; i < own->usage.n_channels; i++) own->used[i] = now[i] - own->used[i];
    }
}

void counters_mark(struct counters *counters, int thread, int phase) {
    struct thread_counters *own = counters->thread[thread];
    double now[meter_channels_max];
    meter_read(&own->papi, now);
    for (int i = 0; i < own->papi.n_channels; i++) {
        own->counted[phase][i] += now[i] - own->last[i];
        own->last[i] = now[i];
    }
    own->marks[phase]++;
}
