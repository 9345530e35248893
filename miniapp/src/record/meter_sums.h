/// \file
/// Sums of meters over ranks and threads: `meters` of record.json, and the rows of counters.csv.

#ifndef RECORD_METER_SUMS_H
#define RECORD_METER_SUMS_H

#include "run/counters.h"
#include <jansson.h>
#include <mpi.h>
#include <stdio.h>

/// One value of one thread, as it is sent to the first rank.
struct meter_row {
    int rank, thread, phase; ///< thread -1: of the process; phase -1: of the whole measured part
    enum meter_status status;
    double value; ///< NAN unless the status is meter_ok
    char name[meter_name_max], unit[8], source[16], event[meter_event_max], reason[meter_reason_max];
};

/// One value over all ranks and threads.
struct meter_sum {
    struct meter_row row; ///< of the first that was added; value is the sum
    bool mixed;           ///< threads counted different events: there is no sum
};

struct meter_sums {
    size_t count, capacity;
    struct meter_sum *sum; ///< [count] in the order in which they were first added
};

/// Adds a row to the sum of its source, name and phase. A sum is only good if all its rows are good and of
/// one event.
void meter_sums_add(struct meter_sums *sums, const struct meter_row *row);

/// Sums up on rank 0 what all threads of all ranks have counted, and writes their rows to `file` unless it is
/// NULL (other ranks ignore it). Collective over `world`. \return on rank 0 whether they could be written.
bool meter_sums_gather(struct meter_sums *sums, const struct counters *counters, double peak_bytes,
                       MPI_Comm world, FILE *file);

/// Returns a new entry of `meters`.
json_t *meters_entry(const struct meter_row *row);

/// Appends all sums to the list `meters`.
void meter_sums_append(const struct meter_sums *sums, json_t *list);

/// Appends sentences about counters that were asked for and cannot be read.
void meter_sums_warn(const struct meter_sums *sums, json_t *list);

void meter_sums_close(struct meter_sums *sums);

#endif
