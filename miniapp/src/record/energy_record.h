/// \file
/// The energy of all nodes, gathered on the first rank: `energy` of record.json, and energy.csv.

#ifndef RECORD_ENERGY_RECORD_H
#define RECORD_ENERGY_RECORD_H

#include "record/meter_sums.h"
#include "run/energy_reader.h"

/// What the reading rank of a node knows and sends to the first rank.
struct node_energy {
    int node; ///< lowest rank on it
    int n_sources, n_channels;
    struct {
        char name[16], reason[meter_reason_max];
        enum meter_status status;
    } source[energy_sources_max]; ///< as tried; the last one was read if it is good
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
struct energy_reading {
    int node, channel;
    double time_s, value;
};

struct energy_record {
    int nodes;
    struct node_energy *node; ///< [nodes], on the first rank
    size_t count, capacity;
    struct energy_reading *reading; ///< [count], on the first rank
};

/// Gathers what the nodes read. Collective over the ranks of `reader`.
/// \param measured the measured part, by the monotonic clock of the calling rank.
/// \param ahead_s how far the system clock is ahead of that, by which times become those since the epoch.
void energy_record_gather(struct energy_record *record, const struct energy_reader *reader,
                          struct interval measured, double ahead_s);

void energy_record_close(struct energy_record *record);

/// Says whether some meter could be read on some node.
bool energy_record_any(const struct energy_record *record);

/// Writes energy.csv. \return false if it could not be written.
bool energy_record_write(const struct energy_record *record, FILE *file);

/// Returns a new `energy`, or null; *reason becomes a new string, or null where there is an energy.
json_t *energy_record_json(const struct energy_record *record, bool asked_for, double duration_s, bool paused,
                           json_t **reason);

/// Appends to `meters` what became of every meter that was tried.
void energy_record_append(const struct energy_record *record, json_t *list);

#endif
