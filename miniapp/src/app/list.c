#include "app/list.h"

#include "measurement/meter.h"
#include "neuron/model.h"
#include "record/run_files.h"
#include "schedule/schedule.h"
#include <stdio.h>

#define LIST(title, table)                                                                                   \
    printf("%s\n", title);                                                                                   \
    for (int i = 0; table[i]; i++) printf("  %-16s  %s\n", table[i]->name, table[i]->summary);

/// Makes a new list with an object for each member of a registry.
#define JSON_LIST(list, table, object)                                                                       \
    json_t *list = json_array();                                                                             \
    for (int i = 0; table[i]; i++) json_array_append_new(list, object(table[i]))

static void print_absent(const char *absent) {
    if (absent) printf("; absent: %s", absent);
}

static void print_exchanges(void) {
    printf("exchange\n");
    for (int i = 0; exchange_backends[i]; i++) {
        printf("  %-16s  %s", exchange_backends[i]->name, exchange_backends[i]->summary);
        print_absent(exchange_backends[i]->absent);
        printf("\n");
    }
}

static void print_meters(void) {
    printf("meter\n");
    for (int i = 0; meters[i]; i++) {
        const struct meter *m = meters[i];
        printf("  %-16s  %s", m->name, m->summary);
        print_absent(m->absent);
        for (int q = 0; m->quantities[q].name; q++) printf("%s%s", q ? ", " : " (", m->quantities[q].name);
        printf(")\n");
    }
}

void list_print(void) {
    LIST("placement", placement_rules)
    LIST("schedule", schedule_rules)
    LIST("wire", wire_formats)
    print_exchanges();
    LIST("neuron model", neuron_models)
    print_meters();
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : json_null();
}

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
                     text_or_null(b->absent), "ranks_max", b->ranks_max, "one_node", (int)b->one_node,
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
    static const char *const scopes[] = {"thread", "process", "node"};
    json_t *quantities = json_array();
    for (const struct meter_quantity *q = meter->quantities; q->name; q++)
        json_array_append_new(quantities, json_pack("{ss ss}", "name", q->name, "unit", q->unit));
    return json_pack("{ss ss so ss so}", "name", meter->name, "summary", meter->summary, "absent",
                     text_or_null(meter->absent), "scope", scopes[meter->scope], "quantities", quantities);
}

static json_t *file_json(const struct run_file *file) {
    return json_pack("{ss ss ss}", "name", file->name, "summary", file->summary, "writer", file->writer);
}

void list_print_json(void) {
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
