#include "record/energy_record.h"

#include "base/alloc.h"
#include "base/json_number.h"
#include "record/gather.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { readings_min = 2 }; ///< in the measured part; fewer would tell of what lies before and after

void energy_record_close(struct energy_record *record) {
    free(record->node);
    free(record->reading);
    *record = (struct energy_record){0};
}

static struct node_energy *summarise(const struct energy_reader *reader, struct interval measured, int rank) {
    struct node_energy *node = ALLOC_ZERO(struct node_energy, 1);
    const struct samples *samples = &reader->samples;
    node->node = rank;
    node->n_sources = reader->n_sources;
    for (int s = 0; s < reader->n_sources; s++) {
        const struct meter_handle *source = &reader->source[s];
        snprintf(node->source[s].name, sizeof node->source[s].name, "%s", source->meter->name);
        snprintf(node->source[s].reason, sizeof node->source[s].reason, "%s", source->reason);
        node->source[s].status = source->status;
    }
    if (samples->count == 0) return node;
    const struct meter_handle *meter = &reader->source[reader->n_sources - 1];
    node->n_channels = meter->n_channels;
    node->readings = energy_readings(samples, measured);
    node->coverage = energy_coverage(samples, measured, 3 * reader->description->given.energy_interval_s);
    node->cost = samples->cost;
    for (int c = 0; c < meter->n_channels; c++) {
        const struct meter_channel *channel = &meter->channel[c];
        const bool watts = channel->unit[0] == 'W';
        const struct interval idle = reader->idle_before;
        snprintf(node->channel[c].name, sizeof node->channel[c].name, "%s", channel->name);
        snprintf(node->channel[c].event, sizeof node->channel[c].event, "%s", channel->event);
        snprintf(node->channel[c].unit, sizeof node->channel[c].unit, "%s", channel->unit);
        snprintf(node->channel[c].reason, sizeof node->channel[c].reason, "%s", channel->reason);
        node->channel[c].gross_j = energy_between(samples, c, watts, measured);
        node->channel[c].failed = channel->failed;
        if (node->channel[c].gross_j == 0) { // no machine runs without energy
            node->channel[c].gross_j = NAN;
            snprintf(node->channel[c].reason, sizeof node->channel[c].reason, "%s %s", channel->event,
                     watts ? "was 0 all the time" : "did not move");
        }
        node->channel[c].idle_w = energy_between(samples, c, watts, idle) / (idle.to_s - idle.from_s);
    }
    return node;
}

static bool take_node(const void *block, size_t count, void *context) {
    struct energy_record *record = context;
    if (count > 0) record->node[record->nodes++] = *(const struct node_energy *)block;
    return true;
}

static bool take_readings(const void *block, size_t count, void *context) {
    struct energy_record *record = context;
    if (count == 0) return true;
    if (record->count + count > record->capacity) {
        record->capacity = 2 * (record->count + count);
        struct energy_reading *grown = ALLOC(struct energy_reading, record->capacity);
        if (record->count > 0) memcpy(grown, record->reading, record->count * sizeof *grown);
        free(record->reading);
        record->reading = grown;
    }
    memcpy(record->reading + record->count, block, count * sizeof *record->reading);
    record->count += count;
    return true;
}

void energy_record_gather(struct energy_record *record, const struct energy_reader *reader,
                          struct interval measured, double ahead_s) {
    int rank, ranks;
    MPI_Comm_rank(reader->world, &rank);
    MPI_Comm_size(reader->world, &ranks);
    *record = (struct energy_record){0};
    if (reader->description->given.record_energy == 0) return;
    if (rank == 0) record->node = ALLOC(struct node_energy, (size_t)ranks);
    struct node_energy *node = reader->reads ? summarise(reader, measured, rank) : NULL;
    gather_blocks(reader->world, node, node ? 1 : 0, sizeof *node, take_node, record);
    free(node);

    const struct samples *samples = &reader->samples;
    const size_t channels = (size_t)samples->channels, count = samples->count * channels;
    struct energy_reading *own = ALLOC(struct energy_reading, count);
    for (size_t i = 0; i < count; i++)
        own[i] = (struct energy_reading){rank, (int)(i % channels), samples->time_s[i / channels] + ahead_s,
                                         samples->value[i]};
    gather_blocks(reader->world, own, count, sizeof *own, take_readings, record);
    free(own);
}

bool energy_record_any(const struct energy_record *record) {
    return record->count > 0;
}

static const char *source_of(const struct node_energy *node) {
    return node->source[node->n_sources - 1].name;
}

static const struct node_energy *node_of(const struct energy_record *record, int node) {
    for (int n = 0; n < record->nodes; n++)
        if (record->node[n].node == node) return &record->node[n];
    return NULL;
}

bool energy_record_write(const struct energy_record *record, FILE *file) {
    fprintf(file, "node,source,channel,time_s,energy_j,power_w\n");
    for (size_t i = 0; i < record->count; i++) {
        const struct energy_reading *reading = &record->reading[i];
        const struct node_energy *node = node_of(record, reading->node);
        const bool watts = node->channel[reading->channel].unit[0] == 'W';
        if (isnan(reading->value)) continue; // it failed
        fprintf(file, watts ? "%d,%s,%s,%.6f,,%.9g\n" : "%d,%s,%s,%.6f,%.12g,\n", reading->node,
                source_of(node), node->channel[reading->channel].name, reading->time_s, reading->value);
    }
    return !ferror(file);
}

/// Says why there is no energy of all nodes: the reasons of the first node that could not be read, or that
/// nodes have different meters. NULL where there is an energy.
static json_t *why_not(const struct energy_record *record) {
    for (int n = 0; n < record->nodes; n++) {
        const struct node_energy *node = &record->node[n];
        if (node->n_channels > 0) continue;
        char text[energy_sources_max * (meter_reason_max + 64)] = "";
        size_t length = 0;
        for (int s = 0; s < node->n_sources; s++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s: %s", s ? "; " : "",
                                       node->source[s].name, meter_status_name(node->source[s].status),
                                       node->source[s].reason);
        return json_sprintf("node %d: %s", node->node, text);
    }
    for (int n = 1; n < record->nodes; n++)
        if (strcmp(source_of(&record->node[n]), source_of(&record->node[0])) != 0)
            return json_sprintf("nodes have different meters: %s and %s", source_of(&record->node[0]),
                                source_of(&record->node[n]));
    return NULL;
}

static json_t *channels(const struct node_energy *node, json_t *list) {
    for (int c = 0; c < node->n_channels; c++)
        json_array_append_new(
            list, json_pack("{si ss ss ss so si}", "node", node->node, "name", node->channel[c].name, "event",
                            node->channel[c].event, "unit", node->channel[c].unit, "gross_j",
                            known(node->channel[c].gross_j), "failed", (int)node->channel[c].failed));
    return list;
}

/// Says what is wrong with an energy that is not known in full, or null.
static json_t *what_is_missing(const struct energy_record *record, double gross_j, uint64_t readings,
                               bool paused) {
    for (int n = 0; n < record->nodes && isnan(gross_j); n++)
        for (int c = 0; c < record->node[n].n_channels; c++)
            if (isnan(record->node[n].channel[c].gross_j) && record->node[n].channel[c].reason[0])
                return json_sprintf("node %d: %s", record->node[n].node, record->node[n].channel[c].reason);
    if (readings < readings_min)
        return json_sprintf("%d readings within the measured part; allowed: %d or more, by a longer run or a "
                            "shorter record.energy_interval_s",
                            (int)readings, readings_min);
    if (isnan(gross_j)) return json_string("the readings do not enclose the measured part");
    return paused ? json_null() : json_string("record.idle_pause_s is 0: no idle power was measured");
}

json_t *energy_record_json(const struct energy_record *record, bool asked_for, double duration_s, bool paused,
                           json_t **reason) {
    *reason = asked_for ? why_not(record) : json_string("record.energy is false");
    if (*reason) return json_null();
    *reason = json_null();
    double gross_j = 0, idle_w = 0, coverage = 1, cost = 0;
    uint64_t readings = UINT64_MAX;
    json_t *list = json_array();
    for (int n = 0; n < record->nodes; n++) {
        const struct node_energy *node = &record->node[n];
        for (int c = 0; c < node->n_channels; c++) {
            gross_j += node->channel[c].gross_j;
            idle_w += node->channel[c].idle_w;
        }
        coverage = fmin(coverage, node->coverage);
        cost = fmax(cost, node->cost);
        readings = node->readings < readings ? node->readings : readings;
        channels(node, list);
    }
    if (readings < readings_min) gross_j = NAN;
    return json_pack("{ss ss so so so sf sI sf si sf so so}", "source", source_of(&record->node[0]), "status",
                     meter_status_name(isnan(gross_j) ? meter_unavailable : meter_ok), "gross_j",
                     known(gross_j), "idle_power_w", known(idle_w), "net_j",
                     known(gross_j - idle_w * duration_s), "duration_s", duration_s, "readings",
                     (json_int_t)readings, "coverage", coverage, "nodes", record->nodes, "sampling_cost",
                     cost, "reason", what_is_missing(record, gross_j, readings, paused), "channels", list);
}

void energy_record_append(const struct energy_record *record, json_t *list) {
    struct meter_sums sums = {0};
    for (int n = 0; n < record->nodes; n++) {
        const struct node_energy *node = &record->node[n];
        for (int s = 0; s < node->n_sources; s++) {
            struct meter_row row = {
                .thread = -1, .phase = -1, .status = node->source[s].status, .name = "energy", .unit = "J"};
            snprintf(row.source, sizeof row.source, "%s", node->source[s].name);
            snprintf(row.reason, sizeof row.reason, "%s", node->source[s].reason);
            const bool read = s == node->n_sources - 1 && node->n_channels > 0;
            for (int c = 0; read && c < node->n_channels; c++) row.value += node->channel[c].gross_j;
            if (read) snprintf(row.event, sizeof row.event, "%s", "sum of energy.channels");
            if (read && (isnan(row.value) || node->readings < readings_min)) {
                row.status = meter_unavailable;
                snprintf(row.reason, sizeof row.reason, "see energy.reason");
            }
            meter_sums_add(&sums, &row);
        }
    }
    meter_sums_append(&sums, list);
    meter_sums_close(&sums);
}
