/// \file
/// Energy of the run: the first rank of every node reads a meter of the node in a thread beside the
/// simulation, from an idle pause before to one after.

#ifndef RUN_POWER_H
#define RUN_POWER_H

#include "description/description.h"
#include "measurement/energy.h"
#include <mpi.h>
#include <stdint.h>

enum { power_sources_max = 8 };

/// On one rank. Large: allocate it.
struct power {
    const struct description *description; ///< borrowed
    MPI_Comm world;                        ///< borrowed
    bool reads;                            ///< this rank reads for its node
    int n_sources;                         ///< meters that were tried; the last one is read if it is good
    struct meter_handle source[power_sources_max];
    double pause_s;          ///< of all ranks, before and after; 0 where nothing is there to be read
    struct sampler *sampler; ///< NULL unless the meter is being read
    struct samples samples;
    struct interval idle_before, idle_after; ///< NAN where there was no pause
};

/// Collective. Without record.energy nothing is opened. \param root in place of /sys.
void power_open(struct power *power, const struct description *description, const char *root, MPI_Comm world);

/// Collective: starts reading, then all ranks pause; all ranks pause, then reading ends.
void power_begin(struct power *power);
void power_end(struct power *power);

void power_close(struct power *power);

#endif
