/// \file
/// The command line of the mini-app: what the program is to do, and with which description.

#pragma once

#include "base/error.h"
#include "run/dry.h"
#include <stdbool.h>

/// What the program is to do.
enum action { action_run, action_list, action_explain, action_help, action_version };

/// The command line, read.
struct options {
    enum action action;
    const char *description;   ///< path of the run description
    const char *out;           ///< directory of the record
    const char *compute_times; ///< NULL: not given
    const char *progress;      ///< NULL: not given
    const char **overrides;    ///< [n_overrides] of --set
    int n_overrides;
    int ranks, threads; ///< for --explain; 0: as started
    bool is_dry;        ///< --as-rank, --of
    struct dry dry;     ///< what is asked of it
    bool json;          ///< print JSON; of --list and --explain
};

extern const char *const options_help; ///< what --help prints

/// Reads the command line; strings are borrowed from it. Fails naming the option. Close the options in any
/// case.
bool options_read(struct options *options, int argc, char **argv, struct error *error);
void options_close(struct options *options);
