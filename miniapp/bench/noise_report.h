/// \file
/// The JSON that bench_noise prints; miniapp/FORMAT.md states it.

#ifndef BENCH_NOISE_REPORT_H
#define BENCH_NOISE_REPORT_H

#include "measurement/host.h"
#include "measurement/kernel_counts.h"
#include "measurement/processes.h"
#include "measurement/usage.h"
#include "noise_loops.h"
#include <pthread.h>
#include <stdio.h>

/// Duration of the measurement, and what to print.
struct options {
    double seconds, quantum_s, times;
    long list;
    const char *out;
};

/// Work and results of one thread.
struct witness {
    const struct options *options;
    pthread_barrier_t *together;
    pthread_t thread;
    int core;
    bool bound;
    double tick_s;
    uint64_t work;
    struct detours detours;
    struct quanta quanta;
    struct usage_thread before, after;
};

/// Returns the name of this node: what Slurm calls it, since several may share a host in a test.
const char *noise_node(const struct host *host);

/// Prints what `n` threads found from `began_s` on, since the Unix epoch; sorts their lists of detours.
void noise_print(FILE *file, const struct options *options, struct witness *witness, int n, double began_s,
                 const struct kernel_counts *counts, const struct processes *used);

#endif
