/// \file
/// A run description that has been read and checked (miniapp/FORMAT.md states the format).

#ifndef DESCRIPTION_DESCRIPTION_H
#define DESCRIPTION_DESCRIPTION_H

#include "base/params.h"
#include "description/network.h"

#define PARAMETER_MEMBER(kind, member, section, field, fallback, low, high) double member;

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
        RUN_PARAMETERS(PARAMETER_MEMBER)
    } given; ///< the scalar fields, as numbers

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
    const char **sensors; ///< [n_sensors] of energy, by name; none of them: the meter's choice
    int n_sensors;
    double idle_pause_s;  ///< before the warm-up and after the measured part
    bool pause_asked_for; ///< it is made also where no meter can be read
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

/// Refuses the name in a top-level field and lists the allowed ones.
bool description_refuse_name(const struct description *description, const char *field, const char *allowed,
                             struct error *error);

#endif
