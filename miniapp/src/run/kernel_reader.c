#include "run/kernel_reader.h"

#include "base/alloc.h"
#include "measurement/clock.h"
#include "measurement/simulated.h"
#include "measurement/usage.h"
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Returns a block twice as large with the same contents, and frees the old one.
static void *twice(void *block, size_t *most, size_t size) {
    void *grown = alloc(2 * *most, size);
    memcpy(grown, block, *most * size);
    free(block);
    return grown;
}

static void grow_readings(struct kernel_reader *reader) {
    size_t most = reader->readings_max;
    reader->time_s = twice(reader->time_s, &most, sizeof *reader->time_s);
    reader->reader_core = twice(reader->reader_core, &most, sizeof *reader->reader_core);
    reader->readings_max = 2 * most;
}

static void add_event(struct kernel_reader *reader, int cause, int core, uint32_t count) {
    if (reader->events == reader->events_max) {
        reader->event = twice(reader->event, &reader->events_max, sizeof *reader->event);
        reader->events_max *= 2;
    }
    reader->event[reader->events++] =
        (struct kernel_event){(uint32_t)reader->readings, count, (uint16_t)cause, (uint16_t)core};
}

static void take(void *context) {
    struct kernel_reader *reader = context;
    struct kernel_counts *counts = &reader->counts;
    if (reader->full) return;
    if (reader->readings == reader->readings_max) grow_readings(reader);
    const double before = clock_now();
    kernel_counts_read(counts);
    for (int cause = 0; cause < counts->n_causes; cause++)
        for (int core = 0; core < counts->n_cores; core++) {
            const uint32_t rise = kernel_counts_rise(counts, cause, core);
            if (rise > 0) add_event(reader, cause, core, rise);
        }
    reader->reader_core[reader->readings] = sched_getcpu();
    const double after = clock_now();
    reader->time_s[reader->readings++] = (before + after) / 2;
    reader->read_s += after - before;
    reader->full = reader->events >= kernel_events_max;
}

/// Returns the seconds that a thread takes to read its own counts, as a mean over many readings.
static double usage_cost(void) {
    enum { reads = 500 };
    volatile double last = 0;
    const double start = clock_now();
    for (int i = 0; i < reads; i++) last = usage_thread_now().cpu_s;
    (void)last;
    return (clock_now() - start) / reads;
}

void kernel_reader_open(struct kernel_reader *reader, const struct description *description, const char *root,
                        MPI_Comm world) {
    int rank, on_node, own = (int)getpid();
    MPI_Comm node;
    *reader = (struct kernel_reader){.description = description, .world = world};
    if (description->given.record_kernel == 0 || time_is_simulated) return;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_size(node, &reader->n_own);
    reader->own = ALLOC(int, (size_t)reader->n_own);
    MPI_Allgather(&own, 1, MPI_INT, reader->own, 1, MPI_INT, node);
    MPI_Comm_free(&node);
    reader->cycle_read_s = 2 * usage_cost();
    reader->reads = on_node == 0;
    if (!reader->reads) return;
    reader->readings_max = reader->events_max = 4096;
    reader->time_s = ALLOC(double, reader->readings_max);
    reader->reader_core = ALLOC(int, reader->readings_max);
    reader->event = ALLOC(struct kernel_event, reader->events_max);
    kernel_counts_open(&reader->counts, root);
}

/// Returns the processor time of a reading, s: the least of a few.
static double reading_cost(struct kernel_counts *counts) {
    enum { readings = 3 };
    double least = INFINITY;
    for (int i = 0; i < readings; i++) {
        const double before = usage_thread_now().cpu_s;
        kernel_counts_read(counts);
        least = fmin(least, usage_thread_now().cpu_s - before);
    }
    return least;
}

void kernel_reader_begin(struct kernel_reader *reader) {
    const double most = 0.02; // of a core
    if (!reader->reads) return;
    processes_read(&reader->others, "/proc");
    reader->interval_s =
        fmax(reader->description->given.kernel_interval_s, reading_cost(&reader->counts) / most);
    take(reader);
    reader->beat = beat_start(take, reader, reader->interval_s, "kernel-reader");
    reader->started = reader->beat != NULL;
}

void kernel_reader_end(struct kernel_reader *reader) {
    if (!reader->reads) return;
    if (reader->beat) reader->cost = beat_stop(reader->beat);
    reader->beat = NULL;
    take(reader);
    struct processes now;
    processes_read(&now, "/proc");
    processes_since(&now, &reader->others);
    processes_close(&reader->others);
    reader->others = now;
    size_t kept = 0;
    for (size_t i = 0; i < now.count; i++) {
        bool own = false;
        for (int p = 0; p < reader->n_own; p++) own = own || reader->own[p] == now.process[i].pid;
        if (!own) reader->others.process[kept++] = now.process[i];
    }
    reader->others.count = kept;
}

void kernel_reader_close(struct kernel_reader *reader) {
    if (reader->beat) beat_stop(reader->beat);
    kernel_counts_close(&reader->counts);
    processes_close(&reader->others);
    free(reader->time_s);
    free(reader->reader_core);
    free(reader->event);
    free(reader->own);
    *reader = (struct kernel_reader){0};
}
