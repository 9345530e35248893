/// \file
/// The run record: record.json and ranks.csv (miniapp/FORMAT.md), written by rank 0.

#ifndef RECORD_REPORT_H
#define RECORD_REPORT_H

#include "record/power_record.h"
#include "record/run_directory.h"
#include "record/tally.h"

/// All that the record is made of.
struct report {
    const struct description *description;
    const struct model *model;
    const struct measured *measured;
    const struct host *host;
    const struct counters *counters;
    const struct meter_sums *meters;
    const struct power *power; ///< of the first rank
    const struct power_record *energy;
    const char *sysfs;              ///< read in place of /sys
    const struct rank_tally *ranks; ///< [model->ranks]
    double clock_read_s;
    const char *started; ///< ISO 8601, UTC
};

/// Writes record.json and ranks.csv into the partial directory.
bool report_write(const struct report *report, const struct run_directory *directory, struct error *error);

/// Prints one line: what came out, and where it lies.
void report_summary(const struct report *report, const struct run_directory *directory);

#endif
