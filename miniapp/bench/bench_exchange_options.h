/// \file
/// The command line of bench_exchange.

#ifndef BENCH_EXCHANGE_OPTIONS_H
#define BENCH_EXCHANGE_OPTIONS_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

enum { values_most = 64 }; ///< values that an option may list

enum bench_action { bench_run, bench_list, bench_help };

/// Strings are borrowed from the command line.
struct bench_options {
    enum bench_action action;
    const char *filter; ///< regular expression (POSIX, extended) for names of back-ends
    const char *out;    ///< NULL: standard output
    uint32_t bytes[values_most];
    size_t n_bytes;
    /// To how many of the other ranks a rank sends: "all", "ring", or a fraction of them.
    struct bench_targets {
        char name[16];
        double fraction; ///< in (0, 1]; of "all" and "ring" 0
    } targets[values_most];
    size_t n_targets;
    double skew_us[values_most];
    size_t n_skews;
    int repetitions;
    double min_time_s;
    bool seeded; ///< was a seed given?
    uint32_t seed;
};

extern const char *const bench_options_help;

/// Reads the command line of `ranks` ranks, which bound the bytes.
bool bench_options_read(struct bench_options *options, int argc, char **argv, int ranks, struct error *error);

#endif
