/// \file
/// Results of a run: everything that its record is made of, as rank 0 holds it.

#ifndef RECORD_RESULTS_H
#define RECORD_RESULTS_H

#include "record/energy_record.h"
#include "record/kernel_record.h"
#include "record/nodes.h"
#include "record/tally.h"
#include <stddef.h>

/// Everything is borrowed. What is gathered from the ranks is there on rank 0 only.
struct results {
    const struct description *description;
    const struct model *model;
    const struct measured *measured;
    const struct host *host;
    const struct counters *counters;
    const struct meter_sums *meters;           ///< gathered
    const struct energy_reader *reader;        ///< of this rank
    const struct energy_record *energy;        ///< gathered
    const struct kernel_reader *kernel_reader; ///< of this rank
    const struct kernel_record *kernel;        ///< gathered
    const struct rank_tally *ranks;            ///< gathered, [model->processes]
    const struct nodes *nodes;                 ///< gathered
    const json_t *placement_file;              ///< its content; NULL where the placement needs none
    const char *sysfs;                         ///< what was read in place of /sys
    const char *started;                       ///< ISO 8601, UTC
    double clock_read_s;
    double ahead_s; ///< how far its system clock is ahead of the monotonic one, after the run; NAN in
                    ///< simulated time
    double step_s;  ///< by how much its system clock was set since it started; likewise
};

/// Returns the largest value of a member of struct rank_tally, a double, over the ranks.
#define RESULTS_LARGEST(results, member) results_largest(results, offsetof(struct rank_tally, member))
/// Returns the sum of a member of struct rank_tally, a uint64_t, over the ranks.
#define RESULTS_SUM(results, member) results_sum(results, offsetof(struct rank_tally, member))

double results_largest(const struct results *results, size_t member);
uint64_t results_sum(const struct results *results, size_t member);

/// Returns the share of `simulate_s` that the master thread spent reading counters; NAN where it read none.
double results_counter_overhead(const struct results *results, double simulate_s);

/// Writes ranks.csv on rank 0. \return false if it could not be written.
bool results_write_ranks(const struct results *results, FILE *file);

#endif
