/// \file
/// The energy of all nodes, gathered: `energy` of record.json and energy.csv.

#ifndef RECORD_POWER_RECORD_H
#define RECORD_POWER_RECORD_H

#include "record/meters.h"
#include "run/power.h"

/// What the reading rank of a node knows; also what is sent to the first rank.
struct node_power {
    int node; ///< lowest rank on it
    int n_sources, n_channels;
    struct {
        char name[16], reason[meter_reason_max];
        enum meter_status status;
    } source[power_sources_max]; ///< as tried; the last one was read if it is good
    struct {
        char name[meter_name_max], event[meter_event_max], unit[8];
        char reason[meter_reason_max]; ///< why it was lost, or why a reading failed; "" otherwise
        double gross_j, idle_w;        ///< NAN where unknown
        unsigned failed;               ///< readings
    } channel[meter_channels_max];
    uint64_t readings;
    double coverage, cost;
};

/// One reading of one channel.
struct power_reading {
    int node, channel;
    double time_s, value;
};

struct power_record {
    int nodes;
    struct node_power *node; ///< [nodes], on the first rank
    size_t count, capacity;
    struct power_reading *reading; ///< [count], on the first rank
};

/// Collective over the ranks of `power`. \param measured the measured part, by the clock of the calling rank.
void power_gather(struct power_record *record, const struct power *power, struct interval measured);

void power_record_close(struct power_record *record);

/// Whether some meter could be read on some node.
bool power_record_any(const struct power_record *record);

/// Writes energy.csv. \return false if it could not be written.
bool power_write(const struct power_record *record, FILE *file);

/// A new `energy`, or null; *reason is a new string, or null where there is an energy.
json_t *power_json(const struct power_record *record, bool asked_for, double duration_s, bool paused,
                   json_t **reason);

/// Appends to `meters` what came of every meter that was tried.
void power_append(const struct power_record *record, json_t *list);

#endif
