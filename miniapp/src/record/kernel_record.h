/// \file
/// Counts of the kernel during a run, in its record: `kernel` of record.json, kernel.csv, kernel.npy.

#ifndef RECORD_KERNEL_RECORD_H
#define RECORD_KERNEL_RECORD_H

#include "measurement/cycle_usage.h"
#include "measurement/energy.h"
#include "run/kernel_reader.h"
#include <jansson.h>
#include <stdio.h>

enum { kernel_others_max = 10 };

/// Data of a node on rank 0.
struct node_kernel {
    int node; ///< lowest rank there
    int hardware_threads;
    double interval_s, readings, events, cost, read_s;
    double looked_s; ///< time of the last reading since the begin of the measured part
    bool started, full, may_trace;
    char tracers[200]; ///< that this user may use, or why none
    char missing[kernel_missing_max];
    int n_others;
    struct process other[kernel_others_max];
};

/// Gathered on rank 0.
struct kernel_record {
    int nodes;
    struct node_kernel *node; ///< [nodes], owned
};

/// Gathers from the readers; lets rank 0 write kernel.csv to `file`, which others ignore. Times are counted
/// from the begin of the measured part on the node that was read. Collective, where record.kernel is asked
/// for. \return false on rank 0 if it could not be written.
bool kernel_record_gather(struct kernel_record *record, const struct kernel_reader *reader,
                          struct interval measured, FILE *file);

/// Lets rank 0 write float32 [rank, cycle, field of cycle_usage]. Collective. \return as above.
bool kernel_record_write_cycles(const struct cycle_usage *usage, MPI_Comm comm, FILE *file);

/// Returns `kernel` of record.json; `ranks_of` [ranks] is the node of each rank. Null where nothing was
/// gathered.
json_t *kernel_record_json(const struct kernel_record *record, const struct kernel_reader *reader,
                           json_t *node_of_rank);

void kernel_record_close(struct kernel_record *record);

#endif
