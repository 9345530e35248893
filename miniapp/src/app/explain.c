#include "app/job.h"

#define JSON_LIST(list, table, object)                                                                       \
    json_t *list = json_array();                                                                             \
    for (int i = 0; table[i]; i++) json_array_append_new(list, object(table[i]))

static json_t *placement_json(const struct placement_rule *rule) {
    return json_pack("{ss ss}", "name", rule->name, "summary", rule->summary);
}

static json_t *word_or_number(const char *word, int number) {
    return word ? json_string(word) : json_integer(number);
}

static json_t *schedule_json(const struct schedule_rule *rule) {
    static const char *const groups[] = {
        [group_world] = "world", [-group_area] = "area", [-group_square] = "square"};
    static const char *const periods[] = {[period_delay_ratio] = "D", [-period_auto] = "auto"};
    json_t *lanes = json_array();
    for (int l = 0; l < rule->n_lanes; l++) {
        const struct lane_rule *lane = &rule->lanes[l];
        json_array_append_new(
            lanes,
            json_pack("{ss so so so}", "name", lane->name, "group",
                      word_or_number(lane->group <= 0 ? groups[-lane->group] : NULL, lane->group), "period",
                      word_or_number(lane->period <= 0 ? periods[-lane->period] : NULL, lane->period), "lag",
                      word_or_number(lane->lag == lag_given ? "lag" : NULL, lane->lag)));
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

/// Prints a new object, and frees it.
static void print(json_t *json) {
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(json);
}

void list_print(void) {
    JSON_LIST(placements, placement_rules, placement_json);
    JSON_LIST(schedules, schedule_rules, schedule_json);
    JSON_LIST(wires, wire_formats, wire_json);
    JSON_LIST(exchanges, exchange_backends, exchange_json);
    JSON_LIST(models, neuron_models, neuron_model_json);
    JSON_LIST(all_meters, meters, meter_json);
    JSON_LIST(files, run_files, file_json);
    print(json_pack("{ss si so so so so so so so}", "kind", "registries", "format_version", 1, "placements",
                    placements, "schedules", schedules, "wires", wires, "exchanges", exchanges,
                    "neuron_models", models, "meters", all_meters, "run_files", files));
}

static json_t *network_json(const struct network *network) {
    return json_pack("{sI sI sI sI}", "neurons", (json_int_t)network->n_neurons, "populations",
                     (json_int_t)network->n_populations, "areas", (json_int_t)network->n_areas, "synapses",
                     (json_int_t)network_synapses(network));
}

static json_t *input_json(const struct description *d) {
    const struct network *network = &d->network;
    double events = 0; // from outside, of all neurons together, in a step
    for (uint32_t p = 0; p < network->n_populations; p++)
        events += network->populations[p].external.mean * network->populations[p].size;
    return json_pack("{s{sI si sf} si sf}", "ring", "slots", (json_int_t)network->longest_delay + 1, "bits",
                     network->narrow_input ? 16 : 32, "unit", network->weight_unit, "bytes_per_synapse",
                     network->normal ? 8 : 4, "external_events_per_s", events * 1e3 / d->given.resolution_ms);
}

static json_t *lanes_json(const struct description *d, const struct schedule *schedule) {
    json_t *list = json_array();
    for (int l = 0; l < schedule->n_lanes; l++) {
        json_t *lane = lane_json(&schedule->lanes[l], d);
        json_object_set_new(lane, "synapses", json_integer((json_int_t)schedule->lanes[l].n_synapses));
        json_array_append_new(list, lane);
    }
    return list;
}

static json_t *ranks_json(const struct description *d, const struct placement *placement,
                          const struct schedule *schedule) {
    json_t *list = json_array();
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        const struct estimate e = estimate_rank(d, placement, schedule, rank);
        json_t *parts = json_pack("{sf sf sf sf sf sf}", "neurons", e.neurons, "synapses", e.synapses,
                                  "lists", e.lists, "routes", e.routes, "ring", e.ring, "buffers", e.buffers);
        json_array_append_new(list, json_pack("{sI sf sf so sf}", "neurons", (json_int_t)neurons[rank],
                                              "synapses", e.synapses / (d->network.normal ? 8 : 4),
                                              "memory_bytes", estimate_sum(&e), "memory_parts", parts,
                                              "building_bytes", e.building));
    }
    free(neurons);
    return list;
}

void explain_print(const struct description *d, const struct placement *placement,
                   const struct schedule *schedule) {
    print(json_pack("{ss si so so si si ss sf ss sI so so so}", "kind", "explanation", "format_version", 1,
                    "network", network_json(&d->network), "time",
                    json_pack("{sf sI sI}", "cycle_ms", d->given.cycle_ms, "steps_per_cycle",
                              (json_int_t)d->steps_per_cycle, "cycles", (json_int_t)d->cycles),
                    "ranks", placement->ranks, "threads", placement->threads, "placement",
                    placement->rule->name, "balance", placement_balance(placement), "schedule",
                    schedule->rule.name, "delay_ratio", (json_int_t)d->delay_ratio, "input", input_json(d),
                    "lanes", lanes_json(d, schedule), "per_rank", ranks_json(d, placement, schedule)));
}
