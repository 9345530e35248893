/// \file
/// Everything that the record is made of, and sums over what the ranks counted.

#pragma once

#include "record/nodes.h"
#include "record/tally.h"
#include <stddef.h>
#include <stdio.h>

/// Everything that the record is made of, borrowed. What is gathered from the ranks is there on rank 0 only.
struct results {
    const struct description *description; ///< with what was chosen filled in
    const struct model *model;             ///< of rank 0, after the run
    const struct measured *measured;       ///< of rank 0
    const struct host *host;               ///< of rank 0
    const struct counters *counters;       ///< of rank 0
    json_t *meters;                        ///< gathered: a list of entries (miniapp/FORMAT.md)
    json_t *binding;                       ///< gathered: hardware threads of each rank, as lists of numbers
    json_t *usable_cores;                  ///< gathered: likewise, cores
    const struct rank_tally *ranks;        ///< gathered, [model->processes]
    const struct nodes *nodes;             ///< gathered
    const json_t *placement_file;          ///< its content; NULL where the placement needs none
    const char *sysfs;                     ///< what was read in place of /sys
    const char *started;                   ///< ISO 8601, UTC
    double clock_read_s;                   ///< what one reading of the clock takes
    double ahead_s; ///< how far its system clock is ahead of the monotonic one, after the run; NAN in
                    ///< simulated time
    double step_s;  ///< by how much its system clock was set since it started; likewise
};

/// Appends to `list`, on rank 0, what all threads of all ranks have counted, as `meters` of record.json has
/// it, and writes counters.csv unless `file` is NULL. Collective. \return on rank 0 whether it could be
/// written.
bool meters_gather(json_t *list, const struct counters *counters, double peak_bytes, MPI_Comm world,
                   FILE *file);

/// Return the largest value, a double, or the sum, a uint64_t, of a member of struct rank_tally over the
/// ranks.
#define RESULTS_LARGEST(results, member) results_largest(results, offsetof(struct rank_tally, member))
#define RESULTS_SUM(results, member)     results_sum(results, offsetof(struct rank_tally, member))
double results_largest(const struct results *results, size_t member);
uint64_t results_sum(const struct results *results, size_t member);

/// Returns the share of `simulate_s` that the master thread spent reading counters; NAN where it read none.
double results_counter_overhead(const struct results *results, double simulate_s);

/// Writes ranks.csv on rank 0. \return false if it could not be written.
bool results_write_ranks(const struct results *results, FILE *file);
