/// \file
/// What each rank counted and measured, gathered on the first: a row of ranks.csv each.

#pragma once

#include "run/build.h"
#include "run/measured.h"
#include "run/model.h"
#include <jansson.h>

/// Counts and measurements of a rank: a row of ranks.csv.
struct rank_tally {
    uint64_t neurons;                    ///< of the rank
    uint64_t synapses;                   ///< of all lanes and threads
    struct part_counts counts;           ///< of all threads, in the measured part
    uint64_t state_checksum;             ///< of the states in which the neurons end
    struct traffic traffic;              ///< of all lanes
    uint64_t peak_bytes;                 ///< 0: unknown
    uint64_t memory_bytes[memory_kinds]; ///< in the order of memory_kind_names
    uint64_t log_bytes;                  ///< of times and counts of single cycles
    double build_s;                      ///< until the slowest rank had built
    double simulate_s;                   ///< of the measured part, as the rank saw it
    double process_s;                    ///< processor time of the rank in it
    double node_busy_s;                  ///< processor time of its node in it; NAN where unknown
    double node_stolen_s;                ///< taken away by a hypervisor; NAN where unknown
    double throttled_s;                  ///< taken away by quotas; NAN where unknown
    double phase_s[n_phases];            ///< NAN of a phase that was not measured
    struct lane_tally {
        uint64_t synapses;            ///< of all threads
        uint64_t windows;             ///< that have ended
        uint64_t messages;            ///< as in struct traffic
        uint64_t bytes;               ///< likewise
        uint64_t spikes;              ///< words collocated, a spike once for each destination
        uint64_t connections;         ///< ranks that this one sends messages to
        struct level_traffic *levels; ///< [levels] of a composed exchange
    } * lanes;                        ///< [lanes of the model]
};

/// Gathers the tallies. Collective over `world`. \return on rank 0 [ranks], to be closed; NULL elsewhere.
struct rank_tally *tally(const struct model *model, const struct measured *measured, double build_s,
                         MPI_Comm world);
void tally_close(struct rank_tally *tally); ///< NULL is ignored

/// Gathers a list of processors, such as "0-3,8", from each rank. Collective. \return on rank 0 a new list
/// of lists of numbers; NULL elsewhere.
json_t *tally_processors(const char *list, MPI_Comm world);
