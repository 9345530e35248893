/// \file
/// Counts and measurements of all ranks: the rows of ranks.csv.

#ifndef RECORD_TALLY_H
#define RECORD_TALLY_H

#include "measurement/host.h"
#include "run/simulate.h"

struct rank_tally {
    uint64_t neurons, synapses;
    struct part_counts counts;
    uint64_t state_checksum;
    struct traffic traffic;
    uint64_t peak_bytes; ///< 0: unknown
    uint64_t part_bytes[build_parts];
    uint64_t log_bytes;
    double build_s, simulate_s, process_s, node_busy_s, node_stolen_s;
    double phase_s[n_phases];
    char binding[512]; ///< as in struct host, like the next two
    struct core_set usable;
    int usable_cores;
    struct lane_tally {
        uint64_t synapses, windows, messages, bytes, spikes;
        uint64_t connections;                    ///< ranks that this one sends messages to
        struct level_traffic levels[levels_max]; ///< of a composed exchange
    } lanes[schedule_lanes_max];
};

/// Gathers the tallies. Collective over `world`. \return on rank 0 [ranks], owned by the caller; NULL
/// elsewhere.
struct rank_tally *tally(const struct model *model, const struct measured *measured, const struct host *host,
                         double build_s, MPI_Comm world);

#endif
