#include "app/explain.h"

#include "base/alloc.h"
#include "neuron/model.h"
#include "record/record.h"
#include "run/counters.h"
#include "schedule/schedule.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Makes a new list with an object for each member of a registry.
#define JSON_LIST(list, table, object)                                                                       \
    json_t *list = json_array();                                                                             \
    for (int i = 0; table[i]; i++) json_array_append_new(list, object(table[i]))

static json_t *placement_json(const struct placement_rule *rule) {
    return json_pack("{ss ss}", "name", rule->name, "summary", rule->summary);
}

static json_t *group_json(int group) {
    if (group == group_area) return json_string("area");
    if (group == group_square) return json_string("square");
    return group == group_world ? json_string("world") : json_integer(group);
}

static json_t *period_json(int period) {
    if (period == period_delay_ratio) return json_string("D");
    return period == period_auto ? json_string("auto") : json_integer(period);
}

static json_t *schedule_json(const struct schedule_rule *rule) {
    json_t *lanes = json_array();
    for (int l = 0; l < rule->n_lanes; l++) {
        const struct lane_rule *lane = &rule->lanes[l];
        json_t *lag = lane->lag == lag_given ? json_string("lag") : json_integer(lane->lag);
        json_array_append_new(lanes,
                              json_pack("{ss so so so}", "name", lane->name, "group", group_json(lane->group),
                                        "period", period_json(lane->period), "lag", lag));
    }
    return json_pack("{ss ss ss so}", "name", rule->name, "summary", rule->summary, "placement",
                     rule->placement, "lanes", lanes);
}

static json_t *wire_json(const struct wire_format *format) {
    return json_pack("{ss ss si}", "name", format->name, "summary", format->summary, "words", format->words);
}

static json_t *exchange_json(const struct exchange_backend *b) {
    return json_pack("{ss ss so si sb sb sb sb}", "name", b->name, "summary", b->summary, "absent",
                     known_text(b->absent), "ranks_max", b->ranks_max, "one_node", (int)b->one_node,
                     "broadcast", (int)b->broadcast, "composed", (int)b->composed, "overlaps",
                     (int)(b->start != NULL));
}

static json_t *neuron_model_json(const struct neuron_model *model) {
    json_t *parameters = json_array();
    for (uint32_t i = 0; i < model->n_parameters; i++) {
        const struct parameter *p = &model->parameters[i];
        json_array_append_new(parameters, json_pack("{ss sf sf sf}", "name", p->name, "default", p->fallback,
                                                    "low", p->low, "high", p->high));
    }
    return json_pack("{ss ss so sI}", "name", model->name, "summary", model->summary, "parameters",
                     parameters, "bytes_per_neuron", (json_int_t)model->bytes_per_neuron);
}

static json_t *meter_json(const struct meter *meter) {
    json_t *counted = json_array();
    for (int q = 0; q < quantities_max; q++)
        if (strcmp(quantities[q].meter, meter->name) == 0)
            json_array_append_new(
                counted, json_pack("{ss ss}", "name", quantities[q].name, "unit", quantities[q].unit));
    return json_pack("{ss ss so ss so}", "name", meter->name, "summary", meter->summary, "absent",
                     known_text(meter->absent), "scope", meter->scope, "quantities", counted);
}

static json_t *file_json(const struct run_file *file) {
    return json_pack("{ss ss ss}", "name", file->name, "summary", file->summary, "writer", file->writer);
}

void list_print(void) {
    JSON_LIST(placements, placement_rules, placement_json);
    JSON_LIST(schedules, schedule_rules, schedule_json);
    JSON_LIST(wires, wire_formats, wire_json);
    JSON_LIST(exchanges, exchange_backends, exchange_json);
    JSON_LIST(models, neuron_models, neuron_model_json);
    JSON_LIST(all_meters, meters, meter_json);
    JSON_LIST(files, run_files, file_json);
    json_t *all = json_pack("{ss si so so so so so so so}", "kind", "registries", "format_version", 1,
                            "placements", placements, "schedules", schedules, "wires", wires, "exchanges",
                            exchanges, "neuron_models", models, "meters", all_meters, "run_files", files);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(all);
}

/// Returns how many events from outside all neurons together receive in a second of simulated time.
static double external_events(const struct description *d) {
    double per_step = 0;
    for (uint32_t p = 0; p < d->network.n_populations; p++)
        per_step += d->network.populations[p].external.mean * d->network.populations[p].size;
    return per_step * 1e3 / d->given.resolution_ms;
}

/// Says whether in-degrees are random, so that numbers of synapses are expected ones.
static bool synapses_are_expected(const struct network *network) {
    for (uint32_t i = 0; i < network->n_projections; i++)
        if (network->projections[i].indegree.above) return true;
    return false;
}

static json_t *network_json(const struct network *network) {
    return json_pack("{sI sI sI sI sb sI}", "neurons", (json_int_t)network->n_neurons, "populations",
                     (json_int_t)network->n_populations, "areas", (json_int_t)network->n_areas, "synapses",
                     (json_int_t)network_synapses(network), "synapses_are_expected",
                     (int)synapses_are_expected(network), "seed", (json_int_t)network->seed);
}

static json_t *time_json(const struct description *d) {
    return json_pack("{sf sf sI sI sI}", "resolution_ms", d->given.resolution_ms, "cycle_ms",
                     d->given.cycle_ms, "steps_per_cycle", (json_int_t)d->steps_per_cycle, "cycles",
                     (json_int_t)d->cycles, "warmup_cycles", (json_int_t)d->warmup_cycles);
}

static json_t *input_json(const struct description *d) {
    const struct network *network = &d->network;
    json_t *ring = json_pack("{sI si sf}", "slots", (json_int_t)network->longest_delay + 1, "bits",
                             network->narrow_input ? 16 : 32, "unit", network->weight_unit);
    return json_pack("{so si sf}", "ring", ring, "bytes_per_synapse", network->normal ? 8 : 4,
                     "external_events_per_s", external_events(d));
}

/// Returns the connections in each level of a composed exchange, or null.
static json_t *levels_json(const struct lane_plan *lane) {
    json_t *list = lane->exchange.levels.n ? json_array() : json_null();
    for (int l = 0; l < lane->exchange.levels.n; l++) {
        const struct lane_connections found = lane_connections(lane, l);
        json_array_append_new(list, json_pack("{sf si sf}", "connections_mean", found.mean,
                                              "connections_most", found.most, "messages_most", found.all));
    }
    return list;
}

static json_t *lanes_json(const struct description *d, const struct schedule *schedule) {
    json_t *list = json_array();
    for (int l = 0; l < schedule->n_lanes; l++) {
        json_t *lane = lane_json(&schedule->lanes[l], d);
        json_object_set_new(lane, "synapses", json_integer((json_int_t)schedule->lanes[l].n_synapses));
        json_object_set_new(lane, "levels", levels_json(&schedule->lanes[l]));
        json_array_append_new(list, lane);
    }
    return list;
}

static json_t *bytes_json(const struct estimate *e) {
    return json_pack("{sf sf sf sf sf sf}", "neurons", e->neurons, "synapses", e->synapses, "lists", e->lists,
                     "routes", e->routes, "ring", e->ring, "buffers", e->buffers);
}

static json_t *ranks_json(const struct description *d, const struct placement *placement,
                          const struct schedule *schedule) {
    json_t *list = json_array();
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        const struct estimate estimate = estimate_rank(d, placement, schedule, rank);
        json_array_append_new(list, json_pack("{sI sf sf so sf}", "neurons", (json_int_t)neurons[rank],
                                              "synapses", estimate.synapses / (d->network.normal ? 8 : 4),
                                              "memory_bytes", estimate_sum(&estimate), "memory_parts",
                                              bytes_json(&estimate), "building_bytes", estimate.building));
    }
    free(neurons);
    return list;
}

void explain_print(const struct description *d, const struct placement *placement,
                   const struct schedule *schedule) {
    json_t *delay_ratio =
        schedule_uses_delay_ratio(schedule) ? json_integer((json_int_t)d->delay_ratio) : json_null();
    json_t *all = json_pack("{ss si so so si si ss sf ss so so so so}", "kind", "explanation",
                            "format_version", 1, "network", network_json(&d->network), "time", time_json(d),
                            "ranks", placement->ranks, "threads", placement->threads, "placement",
                            placement->rule->name, "balance", placement_balance(placement), "schedule",
                            schedule->rule.name, "delay_ratio", delay_ratio, "input", input_json(d), "lanes",
                            lanes_json(d, schedule), "per_rank", ranks_json(d, placement, schedule));
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(all);
}
