/// \file
/// The JSON of bench_exchange; miniapp/FORMAT.md states it.

#ifndef BENCH_EXCHANGE_REPORT_H
#define BENCH_EXCHANGE_REPORT_H

#include "bench_exchange_case.h"
#include <stdio.h>

/// Measurements, in the order of measuring.
struct bench_measurement {
    size_t number; ///< of the case
    int repetition;
    struct bench_times times;
};

struct bench_results {
    const struct bench_options *options;
    char started[32]; ///< ISO 8601, UTC
    int ranks, nodes;
    bool oversubscribed; ///< more ranks than cores on some node
    struct bench_skipped {
        const struct exchange_backend *backend;
        char reason[1024];
    } * skipped;
    size_t n_skipped;
    struct bench_case *cases;
    size_t n_cases;
    struct bench_measurement *measurements;
    size_t n_measurements;
};

/// Writes to `file` and flushes it. \return whether that succeeded.
bool bench_report(const struct bench_results *results, FILE *file);

#endif
