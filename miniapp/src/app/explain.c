/// \file
/// Prints the tables of the program and the plan of a run as JSON.
///
/// list_print() makes an object of each registry: placements, schedules, wire formats, exchanges, neuron
/// models, meters, files, and the fields of a run description. The analysis reads it, so that it knows what
/// this binary can do. explain_print() makes one of the plan of a run: network, lanes, and the memory of each
/// rank by estimate.c. Each function below returns a new value for one part of them, which the object above
/// it takes over; print() frees the whole. Nothing is built: --explain takes as long as planning, on one
/// rank.
///
/// People do not read this: `spikemark` does, and prints tables of it. So nothing is rounded or worded here.

#include "app/explain.h"

#include "app/estimate.h"
#include "base/alloc.h"
#include "base/registry.h"
#include "description/field_table.h"
#include "description/known.h"
#include "description/network_read.h"
#include "neuron/model.h"
#include "record/run_directory.h"
#include "run/counters.h"
#include "schedule/lane_json.h"
#include "schedule/schedule.h"
#include "transport/wire.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Declares `list` and fills it with what `object` makes of each item of a registry.
#define JSON_LIST(list, table, object)                                                                       \
    json_t *list = json_array();                                                                             \
    for (int i = 0; table[i]; i++) json_array_append_new(list, object(table[i]))

/// Returns a placement with its name and one line about it.
static json_t *placement_json(const struct placement_rule *rule) {
    return json_pack("{ss ss}", "name", rule->name, "summary", rule->summary);
}

/// Returns the word, or where it is NULL the number.
static json_t *word_or_number(const char *word, int number) {
    return word ? json_string(word) : json_integer(number);
}

/// Returns a schedule with its lanes. Groups and periods that are no numbers are written as in a description.
static json_t *schedule_json(const struct schedule_rule *rule) {
    // The constants of enum lane_group and enum lane_period are 0 and below, so that they cannot be numbers.
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

/// Returns a wire format with its words for each spike.
static json_t *wire_json(const struct wire_format *format) {
    return json_pack("{ss ss si}", "name", format->name, "summary", format->summary, "words", format->words);
}

/// Returns an exchange with what it can serve. One overlaps if it does anything in start().
static json_t *exchange_json(const struct exchange_backend *b) {
    return json_pack("{ss ss so si sb sb sb sb}", "name", b->name, "summary", b->summary, "absent",
                     known_text(b->absent), "ranks_max", b->ranks_max, "one_node", (int)b->one_node,
                     "broadcast", (int)b->broadcast, "composed", (int)b->composed, "overlaps",
                     (int)(b->start != NULL));
}

/// Returns a neuron model with its parameters, their defaults and limits.
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

/// Returns a meter with the quantities that it counts.
static json_t *meter_json(const struct meter *meter) {
    json_t *counted = json_array();
    for (int q = 0; q < quantities_max; q++)
        if (strcmp(quantities[q].meter, meter->name) == 0)
            json_array_append_new(
                counted, json_pack("{ss ss}", "name", quantities[q].name, "unit", quantities[q].unit));
    return json_pack("{ss ss so ss so}", "name", meter->name, "summary", meter->summary, "absent",
                     known_text(meter->absent), "scope", meter->scope, "quantities", counted);
}

/// The tables of the fields of a run description; those of neurons are the parameters of their models.
static const struct field_table *const field_tables[] = {
    &table_of_run,        &table_of_time,    &table_of_placement,  &table_of_record,   &table_of_inject,
    &table_of_minor_mode, &table_of_network, &table_of_population, &table_of_external, &table_of_projection,
    &table_of_indegree,   &table_of_weight,  &table_of_delay,      &table_of_lane,     NULL};

/// Returns the names of a registry.
static json_t *names_json(const void *registry) {
    json_t *names = json_array();
    for (size_t i = 0; registry_name(registry, i); i++)
        json_array_append_new(names, json_string(registry_name(registry, i)));
    return names;
}

/// Returns the names that record.counters may have.
static json_t *counters_json(void) {
    json_t *names = json_array();
    for (int q = 0; q < papi_quantities; q++) json_array_append_new(names, json_string(quantities[q].name));
    return names;
}

/// Returns the texts that a field, or an item of it, may be; null for any.
static json_t *values_json(const char *path, const char *name, const struct field *field) {
    static const struct {
        const char *path;
        const void *registry;
    } registered[] = {{"schedule", schedule_rules},
                      {"placement", placement_rules},
                      {"placement.name", placement_rules},
                      {"exchange", exchange_backends},
                      {"wire", wire_formats}};
    // Names of registered things are not repeated in the tables of fields: the registry knows them.
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", path, name);
    for (size_t i = 0; i < sizeof registered / sizeof *registered; i++)
        if (strcmp(whole, registered[i].path) == 0) return names_json(registered[i].registry);
    for (size_t i = 0; levels_hooks && levels_hooks->exchange_fields[i]; i++)
        if (strcmp(whole, levels_hooks->exchange_fields[i]) == 0) return names_json(exchange_backends);
    if (strcmp(whole, "record.counters") == 0) return counters_json();
    if (!field->words) return json_null();
    json_t *values = json_array();
    char *words = alloc_string(field->words), *rest = words, *word;
    while ((word = strsep(&rest, ","))) json_array_append_new(values, json_string(word + (*word == ' ')));
    free(words);
    return values;
}

/// Returns the names of the types that a field may have.
static json_t *types_json(unsigned types) {
    // In the order of the bits of enum field_type.
    static const char *const names[] = {"number", "integer", "boolean", "text", "object", "list"};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (types & 1u << i) json_array_append_new(list, json_string(names[i]));
    return list;
}

/// Returns a field of the run description: path, types, default, limits, and the texts it may be.
static json_t *field_json(const char *path, const struct field *field) {
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", path, field->name);
    const bool ranged = (field->types | field->items) & (type_number | type_integer);
    json_t *fallback = field_fallback(field);
    return json_pack("{ss so so sb so so so so}", "path", whole, "types", types_json(field->types), "items",
                     types_json(field->items), "required", (int)isnan(field->fallback), "default",
                     fallback ? fallback : json_null(), "low", known(ranged ? field->low : NAN), "high",
                     known(ranged ? field->high : NAN), "values", values_json(path, field->name, field));
}

/// Appends the fields of all tables.
static void add_fields(json_t *list, const struct field_table *const *tables) {
    for (int t = 0; tables[t]; t++)
        for (size_t i = 0; i < tables[t]->n; i++)
            json_array_append_new(list, field_json(tables[t]->path, &tables[t]->fields[i]));
}

/// Returns all fields of a run description, those of composed exchanges included where they are linked.
static json_t *fields_json(void) {
    json_t *list = json_array();
    add_fields(list, field_tables);
    if (levels_hooks) add_fields(list, levels_hooks->field_tables);
    return list;
}

/// Returns a file that a record may hold, and which program writes it.
static json_t *file_json(const struct run_file *file) {
    return json_pack("{ss ss ss}", "name", file->name, "summary", file->summary, "writer", file->writer);
}

/// Prints a real number with as few digits as read back the same: 15, 16 or 17, less zeros at their end.
static void print_real(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", value);
    for (int n = 16; n <= 17 && strtod(digits, NULL) != value; n++)
        snprintf(digits, sizeof digits, "%.*g", n, value);
    printf("%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

/// Prints a new object, and frees it. Of its numbers, jansson would print 17 digits.
static void print(json_t *json) {
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_ENSURE_ASCII);
    bool quoted = false;
    for (const char *at = text; at && *at;) {
        const size_t digits = quoted ? 0 : strspn(at, "-+.0123456789e");
        const bool begins = digits > 0 && (*at == '-' || isdigit((unsigned char)*at));
        if (begins && strcspn(at, ".e") < digits) {
            print_real(strtod(at, NULL));
            at += digits;
        } else if (begins) {
            printf("%.*s", (int)digits, at);
            at += digits;
        } else {
            quoted ^= *at == '"';
            if (quoted && *at == '\\') putchar(*at++);
            putchar(*at++);
        }
    }
    printf("\n");
    free(text);
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
    print(json_pack("{ss si so so so so so so so so}", "kind", "registries", "format_version", 1, "fields",
                    fields_json(), "placements", placements, "schedules", schedules, "wires", wires,
                    "exchanges", exchanges, "neuron_models", models, "meters", all_meters, "run_files",
                    files));
}

/// Returns how large the network is.
static json_t *network_json(const struct network *network) {
    return json_pack("{sI sI sI sI}", "neurons", (json_int_t)network->n_neurons, "populations",
                     (json_int_t)network->n_populations, "areas", (json_int_t)network->n_areas, "synapses",
                     (json_int_t)network_synapses(network));
}

/// Returns how the input of neurons is held, and how much comes from outside.
static json_t *input_json(const struct description *d) {
    const struct network *network = &d->network;
    double events = 0; // from outside, of all neurons together, in a step
    for (uint32_t p = 0; p < network->n_populations; p++)
        events += network->populations[p].external.mean * network->populations[p].size;
    return json_pack("{s{sI si sf} si sf}", "ring", "slots", (json_int_t)network->longest_delay + 1, "bits",
                     network->narrow_input ? 16 : 32, "unit", network->weight_unit, "bytes_per_synapse",
                     network->normal ? 8 : 4, "external_events_per_s", events * 1e3 / d->given.resolution_ms);
}

/// Returns the lanes, as in record.json, with their synapses.
static json_t *lanes_json(const struct description *d, const struct schedule *schedule) {
    json_t *list = json_array();
    for (int l = 0; l < schedule->n_lanes; l++) {
        json_t *lane = lane_json(&schedule->lanes[l], d);
        json_object_set_new(lane, "synapses", json_integer((json_int_t)schedule->lanes[l].n_synapses));
        json_array_append_new(list, lane);
    }
    return list;
}

/// Returns what each rank will have and need.
static json_t *ranks_json(const struct description *d, const struct placement *placement,
                          const struct schedule *schedule) {
    json_t *list = json_array();
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    struct estimate *estimates = estimate_ranks(d, placement, schedule);
    for (int rank = 0; rank < placement->ranks; rank++) {
        const struct estimate e = estimates[rank];
        json_t *parts = json_pack("{sf sf sf sf sf sf}", "neurons", e.neurons, "synapses", e.synapses,
                                  "lists", e.lists, "routes", e.routes, "ring", e.ring, "buffers", e.buffers);
        json_array_append_new(list, json_pack("{sI sf sf so sf}", "neurons", (json_int_t)neurons[rank],
                                              "synapses", e.synapses / (d->network.normal ? 8 : 4),
                                              "memory_bytes", estimate_sum(&e), "memory_parts", parts,
                                              "building_bytes", e.building));
    }
    free(estimates);
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
