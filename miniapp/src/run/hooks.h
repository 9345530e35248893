/// \file
/// Injected waits: additional computing time of known statistics, so that waiting for the slowest rank can be
/// studied on any machine with known truth.
///
/// The wait of a rank in a cycle is mean + rank effect + sd z + work, times `factor` with probability
/// `share`, and not below 0. Work makes a rank slow in proportion to what it does, as on a slower node: a
/// time for each of its neurons, and one for each synapse that it delivered to in the cycle, both divided by
/// its threads, which share the work. Here z is a standard normal autoregressive process of first order with
/// the given correlation from cycle to cycle, and the rank effect is normal with rank_sd. All draws come from
/// the counter-based generator, by seed, rank and cycle. Nothing here reads a clock or waits.

#pragma once

#include "base/spike.h"
#include "description/description.h"
#include "measurement/phases.h"

struct inject {
    const struct description *description; ///< borrowed
    uint32_t rank, cycle;                  ///< the next cycle, from the start of the warm-up
    double rank_s;                         ///< mean + rank effect + neurons
    double synapse_s;                      ///< for each synapse delivered to
    double z;
    uint64_t synapses; ///< delivered to before the last wait; 0 where counts begin anew
    bool active;
};

/// Opens the waits of a rank with so many neurons and threads, from the first cycle of the warm-up on.
/// Nothing needs to be closed. `active` is false where the rank never waits.
struct inject inject_open(const struct description *description, int rank, uint32_t neurons, int threads);

/// Returns the seconds to wait in the next cycle. `synapses` is how many the rank has delivered to so far.
double inject_next(struct inject *inject, uint64_t synapses);

// -------------------- compute_times
// How long each rank computes in each measured cycle, read from a file; only in simulated time.

/// The last axis of the file.
enum compute_phase { compute_deliver, compute_update, compute_collocate, n_compute_phases };

struct compute_times {
    float (*seconds)[n_compute_phases]; ///< [measured cycle], or NULL where no file was given
};

/// Reads the part of one rank from a file of float32 [ranks, cycles, n_compute_phases], seconds, which the
/// caller frees in any case. \param path NULL: there is no file.
bool compute_times_open(struct compute_times *times, const char *path, int ranks, int rank, uint32_t cycles,
                        struct error *error);

// -------------------- trace
// The spikes of a run, kept on each rank for spikes.npy.

struct trace {
    bool wanted;
    size_t count, capacity;
    uint32_t (*spikes)[2]; ///< [count] gid and step; owned
};

void trace_add(struct trace *trace, const struct spike *spikes, uint32_t n);

// -------------------- progress
// How far a run has come, for another process to see while it lasts: in a file that rank 0 maps into its
// memory.

struct progress {
    const char *path;          ///< borrowed
    volatile uint32_t *cycles; ///< [2] done, and how many there are, the warm-up included; NULL: nobody asked
};

/// Makes the file, which must not exist yet. Ranks other than 0 make none. \param path NULL: there is no
/// file.
bool progress_open(struct progress *progress, const char *path, int rank, const struct description *run,
                   struct error *error);

static inline void progress_count(const struct progress *progress) {
    if (progress->cycles) progress->cycles[0]++;
}

/// Closes the file. \param keep false: also removes it.
void progress_close(struct progress *progress, bool keep);
