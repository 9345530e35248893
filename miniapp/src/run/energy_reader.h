/// \file
/// Reads energy while the network runs: the first rank of every node reads a meter of the node in a thread
/// beside the simulation, from an idle pause before to one after.
///
/// *Energy* is in joules, over a span of time; *power* is energy per time, in watts. Some meters tell the
/// one, some the other; what is recorded is energy.

#ifndef RUN_ENERGY_READER_H
#define RUN_ENERGY_READER_H

#include "description/description.h"
#include "measurement/energy.h"
#include <mpi.h>
#include <stdint.h>

enum { energy_sources_max = 8 };

/// The reader on one rank.
struct energy_reader {
    const struct description *description; ///< borrowed
    MPI_Comm world;                        ///< borrowed
    bool reads;                            ///< whether this rank reads for its node
    int n_sources;                         ///< meters that were tried; the last one is read if it is good
    struct meter_handle *source;           ///< [energy_sources_max] on ranks that read, else NULL
    double pause_s;          ///< of all ranks, before and after; 0 where nothing is there to be read
    struct sampler *sampler; ///< NULL unless the meter is being read
    struct samples samples;
    struct interval idle_before, idle_after; ///< NAN where there was no pause
};

/// Opens the meters. Collective. Without record.energy nothing is opened. \param root what is read in place
/// of /sys.
void energy_reader_open(struct energy_reader *reader, const struct description *description, const char *root,
                        MPI_Comm world);

/// The first starts reading, and then all ranks pause. The second lets all ranks pause, and then ends
/// reading. Both are collective.
void energy_reader_begin(struct energy_reader *reader);
void energy_reader_end(struct energy_reader *reader);

void energy_reader_close(struct energy_reader *reader);

#endif
