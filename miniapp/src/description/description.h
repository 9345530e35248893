/// \file
/// A run description that has been read and checked (miniapp/FORMAT.md states the format).

#pragma once

#include "description/network.h"

/// A number of every rank: one for all of them, or one for each.
struct per_rank {
    double *values; ///< [n], owned
    int n;          ///< 1, or as many as there are ranks
};

static inline double per_rank_value(const struct per_rank *per_rank, int rank) {
    return per_rank->values[per_rank->n == 1 ? 0 : rank];
}

enum { delay_ratio_most = 1000000 };

struct description {
    struct fields json; ///< the object as run: overrides applied and defaults filled in; owned

    struct {
        double format_version, seed, lag;
        double resolution_ms, cycle_ms, warmup_ms, simulate_ms;
        double record_cycles, record_spikes, barrier, record_energy, energy_interval_s;
        double inject_mean_us, inject_sd_us, inject_serial, inject_rank_us, inject_share, inject_factor;
    } given; ///< the fields that are numbers, or true (1) or false (0)

    uint32_t steps_per_cycle;
    uint32_t warmup_cycles, cycles; ///< before and in the measured part
    uint32_t delay_ratio;           ///< D; 0 stands for "auto"
    const char *schedule;           ///< NULL: the field is a list of lanes
    const char *placement;          ///< NULL: the one that the schedule implies
    json_t *exchange_files; ///< content of the files that `exchange` names, by name; owned, NULL: none read
    const char *placement_file;      ///< path as given, for from_file; else NULL
    const json_t *placement_weights; ///< a list, one for each rank; borrowed from json; NULL: equal ranks
    bool inject_sleeps;              ///< injected waits sleep, else they spin
    struct per_rank inject_synapse_ns, inject_neuron_ns;
    bool record_counters;  ///< some are asked for
    const char **counters; ///< [n_counters] their names; none of them: all
    int n_counters;
    struct network network;
};

/// Applies one "path.to.field=value" to the JSON object before it is read. Missing objects on the path are
/// made (reading refuses unknown names afterwards); list items must exist.
bool description_override(json_t *run, const char *assignment, struct error *error);

/// Reads and checks `run`, and takes ownership of it, also when it fails.
bool description_open(struct description *description, json_t *run, struct error *error);

void description_close(struct description *description);

/// Refuses lists that do not have a value for each of so many ranks.
bool description_check_ranks(const struct description *description, int ranks, struct error *error);
