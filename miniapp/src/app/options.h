/// \file
/// The command line.

#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "run/dry.h"

enum action { action_run, action_list, action_explain, action_help, action_version };

struct options {
    enum action action;
    const char *description; ///< path of the run description
    const char *out;
    const char *compute_times; ///< NULL: not given
    const char *progress;      ///< NULL: not given
    const char **overrides;    ///< [n_overrides] of --set
    int n_overrides;
    int ranks, threads;    ///< for --explain; 0: as started
    bool is_dry;           ///< --as-rank, --of
    struct dry dry;        ///< what is asked of it
    bool json;             ///< print JSON; of --list and --explain
    bool require_counters; ///< refuse to run without those that are asked for
};

extern const char *const options_help;

/// Reads the command line; strings are borrowed from it. Close the options in any case.
bool options_read(struct options *options, int argc, char **argv, struct error *error);
void options_close(struct options *options);

#endif
