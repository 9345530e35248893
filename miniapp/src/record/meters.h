/// \file
/// What the meters of threads counted, gathered: `meters` of record.json and counters.csv.

#ifndef RECORD_METERS_H
#define RECORD_METERS_H

#include "run/counters.h"
#include <jansson.h>
#include <mpi.h>
#include <stdio.h>

/// One value of one thread; also what is sent to the first rank.
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

/// Adds a row to the sum of its source, name and phase. A sum is only good if all its rows are, of one event.
void meters_add(struct meter_sums *sums, const struct meter_row *row);

/// Collective over `world`. Sums up on rank 0 what all threads of all ranks counted, and writes their rows to
/// `file` unless it is NULL (it is ignored on other ranks). \return on rank 0 whether they could be written.
bool meters_gather(struct meter_sums *sums, const struct counters *counters, double peak_bytes,
                   MPI_Comm world, FILE *file);

/// A new entry of `meters`.
json_t *meters_entry(const struct meter_row *row);

/// Appends all sums to the list `meters`.
void meters_append(const struct meter_sums *sums, json_t *list);

void meters_close(struct meter_sums *sums);

#endif
