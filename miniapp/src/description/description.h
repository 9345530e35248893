/// \file
/// A run description that has been read and checked (miniapp/FORMAT.md states the format).
///
/// app/job.c reads it once, on all ranks alike; after that nothing changes it but what is filled in where the
/// description left a choice open (delay_ratio "auto", the exchange of a lane, parameters of neurons). The
/// JSON object goes into the record with these choices, so that a record can be run again as it is.

#pragma once

#include "description/field_table.h"
#include "description/network.h"

/// A number of every rank: one for all of them, or one for each.
struct per_rank {
    double *values; ///< [n], owned
    int n;          ///< 1, or as many as there are ranks
};

/// Returns the number of a rank.
static inline double per_rank_value(const struct per_rank *per_rank, int rank) {
    return per_rank->values[per_rank->n == 1 ? 0 : rank];
}

/// The largest D, in cycles, also where it is "auto": windows of a lane without synapses would otherwise be
/// as long as the run. Products with cycles and lags then fit 64 bits.
enum { delay_ratio_most = 1000000 };

/// What a run is to do. All of it is the same on all ranks.
struct description {
    struct fields json; ///< the object as run: overrides applied and defaults filled in; owned

    /// Fields as their tables write them (description/field_table.h), which write doubles and texts only:
    /// JSON has one kind of number, and true and false become 1 and 0. Compare those with 0. Whole numbers up
    /// to 2^53 are exact in a double; those that are counted with stand as integers below.
    struct {
        double seed;             ///< 0 to 2^53
        double lag;              ///< windows, of lanes that say so
        double resolution_ms;    ///< h: a step
        double cycle_ms;         ///< d_min: a cycle
        double warmup_ms;        ///< before the measured part
        double simulate_ms;      ///< the measured part
        double record_cycles;    ///< true or false: whether times of single cycles are kept
        double record_spikes;    ///< true or false: whether spikes.npy is written
        double barrier;          ///< true or false: whether ranks meet before an exchange
        double inject_mean_us;   ///< mean of injected waits
        double inject_sd_us;     ///< their standard deviation from cycle to cycle
        double inject_serial;    ///< their correlation from one cycle to the next, 0 to 0.9999
        double inject_rank_us;   ///< standard deviation of their means over ranks
        double inject_share;     ///< of the waits, 0 to 1, that are longer by the factor
        double inject_factor;    ///< by which these are longer
        const char *inject_wait; ///< "spin" or "sleep"
    } given;

    uint32_t steps_per_cycle;       ///< at least 1
    uint32_t warmup_cycles, cycles; ///< before and in the measured part; the latter at least 1
    uint32_t delay_ratio;           ///< D; 0 stands for "auto" until the schedule is planned
    const char *schedule;           ///< NULL: the field is a list of lanes
    const char *placement;          ///< NULL: the one that the schedule implies
    json_t *exchange_files; ///< content of the files that `exchange` names, by name; owned, NULL: none read
    const char *placement_file;      ///< path as given, for from_file; else NULL
    const json_t *placement_weights; ///< a list, one for each rank; borrowed from json; NULL: equal ranks
    bool reference_delivery;         ///< spikes are delivered by deliver_reference(), which is plain and slow
    bool inject_sleeps;              ///< injected waits sleep, else they spin
    struct per_rank inject_synapse_ns; ///< wait of a rank for each synapse that it delivers to
    struct per_rank inject_neuron_ns;  ///< wait of a rank for each of its neurons, in a cycle
    bool record_counters;              ///< some are asked for
    const char **counters;             ///< [n_counters] their names; none of them: all
    int n_counters;                    ///< 0 where the field is true or false
    struct network network;            ///< neurons and how they are connected
};

/// Applies one "path.to.field=value" to the JSON object before it is read. Missing objects on the path are
/// made (reading refuses unknown names afterwards); list items must exist.
bool description_override(json_t *run, const char *assignment, struct error *error);

/// Reads and checks `run`, and takes ownership of it, also when it fails.
bool description_open(struct description *description, json_t *run, struct error *error);

void description_close(struct description *description);

extern const struct field_table table_of_run, table_of_time, table_of_placement, table_of_record,
    table_of_inject, table_of_minor_mode;

/// Refuses lists that do not have a value for each of so many ranks.
bool description_check_ranks(const struct description *description, int ranks, struct error *error);
