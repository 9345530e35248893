/// \file
/// What a run has to know of the machine that it runs on, real or simulated by SimGrid. There are two of
/// them, src/measurement/platform.c and simulated/platform.c, one of which is linked.

#pragma once

#include <stdbool.h>

/// What differs between the two.
struct platform {
    const char *kind;  ///< of its runs, for the record: "measured" or "simulated"
    bool one_process;  ///< all ranks are actors of one process, which can share what they only read
    bool has_hosts;    ///< nodes, environment and meters are those of a real machine
    int checked_ranks; ///< an exchange of more ranks is not tested before a run: there it would take minutes
    bool passes_time;  ///< clock_pass() works, so that given compute times can be kept
};

extern const struct platform platform; ///< the one that is linked
