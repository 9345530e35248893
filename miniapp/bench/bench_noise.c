/// \file
/// Measures what takes time from a program on every core that this process may use, with one bound thread per
/// hardware thread: the detour loop, then the quanta loop (noise_loops.h). Beside them stands what the kernel
/// counted meanwhile, and which processes ran. miniapp/FORMAT.md states the JSON.

#include "base/alloc.h"
#include "measurement/clock.h"
#include "measurement/host.h"
#include "measurement/kernel_counts.h"
#include "measurement/processes.h"
#include "measurement/usage.h"
#include "noise_report.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { status_done = 0, status_failed = 1, status_bad_input = 2 };
enum { most_kept = 200000, most_quanta = 2000000 };

static void *look(void *context) {
    struct witness *w = context;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(w->core, &own);
    w->bound = pthread_setaffinity_np(pthread_self(), sizeof own, &own) == 0;
    w->tick_s = noise_tick_s();
    w->work = noise_work(w->options->quantum_s, w->tick_s);
    const double half_s = w->options->seconds / 2;
    const size_t most = (size_t)fmin(most_quanta, 2 * half_s / w->options->quantum_s + 1000);
    pthread_barrier_wait(w->together); // all begin together, and the kernel's counts with them
    pthread_barrier_wait(w->together);
    w->before = usage_thread_now();
    const double begin_s = clock_now();
    noise_detours(&w->detours, begin_s + half_s, w->options->times, w->tick_s, most_kept);
    noise_quanta(&w->quanta, begin_s + 2 * half_s, w->work, w->tick_s, most);
    w->after = usage_thread_now();
    pthread_barrier_wait(w->together);
    return NULL;
}

/// Runs all threads. \return false if not all of them could be started.
static bool measure(struct options *options, FILE *file) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    const int most = CPU_COUNT(&allowed);
    int n = 0;
    struct witness *witness = ALLOC_ZERO(struct witness, (size_t)most);
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, (unsigned)most + 1);
    for (int core = 0; core < CPU_SETSIZE && n < most; core++) {
        if (!CPU_ISSET(core, &allowed)) continue;
        struct witness *w = &witness[n];
        *w = (struct witness){.options = options, .together = &together, .core = core};
        if (pthread_create(&w->thread, NULL, look, w) != 0) return false; // ends the program
        n++;
    }
    const char *proc = getenv("SPIKEMARK_PROCFS");
    struct kernel_counts counts;
    struct processes earlier, later;
    kernel_counts_open(&counts, proc && *proc ? proc : "/proc");
    pthread_barrier_wait(&together); // every thread is ready
    processes_read(&earlier, "/proc");
    kernel_counts_read(&counts);
    const double began_s = clock_now() + clock_ahead();
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together); // every thread is done
    kernel_counts_read(&counts);
    processes_read(&later, "/proc");
    processes_since(&later, &earlier);
    for (int i = 0; i < n; i++) pthread_join(witness[i].thread, NULL);
    noise_print(file, options, witness, n, began_s, &counts, &later);
    for (int i = 0; i < n; i++) {
        free(witness[i].detours.detour);
        free(witness[i].quanta.length_s);
    }
    kernel_counts_close(&counts);
    processes_close(&earlier);
    processes_close(&later);
    pthread_barrier_destroy(&together);
    free(witness);
    return true;
}

static const char *const help =
    "bench_noise: measures what takes time from a program on each core that it may use\n"
    "\n"
    "  bench_noise [--seconds S] [--quantum-us U] [--times N] [--list N] [--out DIR]\n"
    "\n"
    "  --seconds S     how long to look; half with each loop (1)\n"
    "  --quantum-us U  length of a piece of equal work (100)\n"
    "  --times N       a gap between two readings of the clock is a detour from N usual gaps on (9)\n"
    "  --list N        how many of the longest detours to print for each core (200)\n"
    "  --out DIR       write DIR/NODE.json, for one process on each of several nodes\n"
    "\n"
    "miniapp/FORMAT.md states the JSON. Exit status: 0 done, 1 failed, 2 bad input.\n";

/// Reads a number within limits. \return NULL, or what is allowed.
static const char *read_number(const char *text, double low, double high, const char *allowed,
                               double *value) {
    char *end = "no value";
    *value = text ? strtod(text, &end) : NAN;
    return *end || !(*value >= low && *value <= high) ? allowed : NULL;
}

/// \return NULL, or what is wrong.
static const char *read_options(int argc, char **argv, struct options *o) {
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL, *wrong;
        double read;
        if (strcmp(argv[i], "--seconds") == 0) {
            wrong = read_number(value, 0.01, 3600, "--seconds: allowed: 0.01 to 3600", &o->seconds);
        } else if (strcmp(argv[i], "--quantum-us") == 0) {
            wrong = read_number(value, 1, 1e6, "--quantum-us: allowed: 1 to 1000000", &read);
            o->quantum_s = 1e-6 * read;
        } else if (strcmp(argv[i], "--times") == 0) {
            wrong = read_number(value, 2, 1e6, "--times: allowed: 2 to 1000000", &o->times);
        } else if (strcmp(argv[i], "--list") == 0) {
            wrong = read_number(value, 0, most_kept, "--list: allowed: 0 to 200000", &read);
            o->list = (long)read;
        } else if (strcmp(argv[i], "--out") == 0) {
            wrong = value ? NULL : "--out: allowed: a folder";
            o->out = value;
        } else {
            return "unknown option; see bench_noise --help";
        }
        if (wrong) return wrong;
    }
    return NULL;
}

/// Opens DIR/NODE.json. \return NULL if it cannot be written.
static FILE *open_out(const char *folder) {
    struct host host;
    char path[4096];
    host_read(&host);
    snprintf(path, sizeof path, "%.3900s/%s.json", folder, noise_node(&host));
    FILE *file = fopen(path, "w");
    if (!file) fprintf(stderr, "bench_noise: %s: %s\n", path, strerror(errno));
    return file;
}

int main(int argc, char **argv) {
    struct options options = {.seconds = 1, .quantum_s = 1e-4, .times = 9, .list = 200};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(help, stdout), status_done;
    const char *wrong = read_options(argc, argv, &options);
    if (wrong) return fprintf(stderr, "bench_noise: %s\n", wrong), status_bad_input;
    FILE *file = options.out ? open_out(options.out) : stdout;
    if (!file) return status_bad_input;
    if (!measure(&options, file)) return fprintf(stderr, "bench_noise: no threads\n"), status_failed;
    const bool written = !ferror(file);
    return fclose(file) == 0 && written ? status_done : status_failed;
}
