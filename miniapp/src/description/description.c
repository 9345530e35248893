/// \file
/// Reads a run description: its fields, their limits and defaults, and what follows from them.
///
/// The tables below say of each field what it may be, where it goes, and what it is by default;
/// field_table.c reads by them, fills in what is absent, and refuses the rest. `miniapp --list` prints the
/// same tables, so there is one place where a field is declared. To add a field: a line in a table, a member
/// in struct description, a line in miniapp/FORMAT.md.
///
/// What needs more than a table is read by the functions that follow: times in whole steps and cycles,
/// placement, injected waits, counters. network_read.c reads populations and projections.
///
/// Cost: the size of the description, once on each rank, which all read the same text. Memory: the JSON
/// stays as long as the description, since lanes and record quote from it.

#include "description/description.h"

#include "base/alloc.h"
#include "base/registry.h"
#include "description/field_table.h"
#include "description/network_read.h"
#include "description/placement.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define GIVEN(member) offsetof(struct description, given.member)

// clang-format off
static const struct field
of_run[] = {
    INTEGER("format_version",   FIELD_APART,           REQUIRED, 1, 1),
    INTEGER("seed",             GIVEN(seed),           1,        0, 9007199254740992.0),
    INTEGER("lag",              GIVEN(lag),            1,        1, 1000),
    OBJECT("time",              REQUIRED),
    {"delay_ratio", type_integer | type_text, FIELD_APART, 1,    1, delay_ratio_most, NULL, "auto", 0},
    {"schedule",    type_text | type_list,    FIELD_APART, 0,    0, 0, "conventional", NULL, type_object},
    {"placement",   type_text | type_object,  FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
    {"exchange",    type_text | type_object,  FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
    {"wire",        type_text | type_object,  FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
    {"delivery",    type_text,                FIELD_APART, ABSENT, 0, 0, NULL, "tuned, reference", 0},
    OBJECT("network",           REQUIRED),
    OBJECT("record",            ABSENT),
    OBJECT("inject",            ABSENT)},
of_time[] = {
    NUMBER("resolution_ms",     GIVEN(resolution_ms),  0.1,      1e-6, 1000),
    NUMBER("cycle_ms",          FIELD_APART,           ABSENT,   1e-6, 1000),
    NUMBER("warmup_ms",         GIVEN(warmup_ms),      0,        0,    1e9),
    NUMBER("simulate_ms",       GIVEN(simulate_ms),    REQUIRED, 1e-6, 1e9)},
of_placement[] = {
    TEXT("name",                offsetof(struct description, placement)),
    {"file",        type_text,                FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
    {"weights",     type_list,                FIELD_APART, ABSENT, 1e-12, 1e12, NULL, NULL, type_number}},
of_record[] = { // those of energy are for `spikemark run`, which reads the meters of nodes
    BOOLEAN("cycles",           GIVEN(record_cycles),  1),
    BOOLEAN("spikes",           GIVEN(record_spikes),  0),
    BOOLEAN("barrier",          GIVEN(barrier),        1),
    {"counters",    type_boolean | type_list, FIELD_APART, 0,    0, 0, NULL, NULL, type_text},
    BOOLEAN("energy",           FIELD_APART,           0),
    NUMBER("energy_interval_s", FIELD_APART,           0.1,      0.001, 30),
    LIST("energy_sensors",      ABSENT,                type_text),
    NUMBER("idle_pause_s",      FIELD_APART,           ABSENT,   0, 3600)},
of_inject[] = {
    NUMBER("mean_us",           GIVEN(inject_mean_us), 0,        0, 1e7),
    NUMBER("sd_us",             GIVEN(inject_sd_us),   0,        0, 1e7),
    NUMBER("correlation",       GIVEN(inject_serial),  0,        0, 0.9999),
    NUMBER("rank_sd_us",        GIVEN(inject_rank_us), 0,        0, 1e7),
    {"per_synapse_ns", type_number | type_list, FIELD_APART, 0,  0, 1e6, NULL, NULL, type_number},
    {"per_neuron_ns",  type_number | type_list, FIELD_APART, 0,  0, 1e6, NULL, NULL, type_number},
    OBJECT("minor_mode",        ABSENT),
    WORD("wait",                GIVEN(inject_wait),    "spin",   "spin, sleep")},
of_minor_mode[] = {
    NUMBER("share",             GIVEN(inject_share),   0,        0, 1),
    NUMBER("factor",            GIVEN(inject_factor),  1,        0, 1e6)};
// clang-format on

const struct field_table table_of_run = FIELD_TABLE("", of_run),
                         table_of_time = FIELD_TABLE("time.", of_time),
                         table_of_placement = FIELD_TABLE("placement.", of_placement),
                         table_of_record = FIELD_TABLE("record.", of_record),
                         table_of_inject = FIELD_TABLE("inject.", of_inject),
                         table_of_minor_mode = FIELD_TABLE("inject.minor_mode.", of_minor_mode);

/// Expresses `ms` as a whole number of units, up to the rounding of decimal fractions. Fails where it is
/// none.
static bool whole(const struct fields *fields, const char *name, double ms, double unit_ms, const char *unit,
                  uint32_t *count, struct error *error) {
    double n = nearbyint(ms / unit_ms);
    if (fabs(ms / unit_ms - n) > 1e-6 || n > 4e9) {
        char allowed[120];
        snprintf(allowed, sizeof allowed, "a multiple of %s, %.10g ms, up to 4e9 of them", unit, unit_ms);
        return fields_refuse(fields, name, allowed, error);
    }
    *count = (uint32_t)n;
    return true;
}

/// Reads the times, and expresses them in steps and cycles, of which each must be a whole number.
static bool read_time(struct description *d, struct error *error) {
    struct fields time;
    if (!fields_enter(&d->json, "time", true, &time, error) || !fields_read(&time, &table_of_time, d, error))
        return false;
    // A cycle is one step where the description does not say how long it is.
    d->given.cycle_ms = fields_fill(&time, "cycle_ms", d->given.resolution_ms);
    double h = d->given.resolution_ms, d_min = d->given.cycle_ms;
    if (!whole(&time, "cycle_ms", d_min, h, "the resolution", &d->steps_per_cycle, error)) return false;
    if (d->steps_per_cycle == 0)
        return fields_refuse(&time, "cycle_ms", "at least the resolution time.resolution_ms", error);
    if (!whole(&time, "warmup_ms", d->given.warmup_ms, d_min, "the cycle", &d->warmup_cycles, error) ||
        !whole(&time, "simulate_ms", d->given.simulate_ms, d_min, "the cycle", &d->cycles, error))
        return false;
    if (d->cycles == 0) return fields_refuse(&time, "simulate_ms", "at least one cycle", error);
    // Steps are counted in 32 bits.
    double steps = ((double)d->warmup_cycles + d->cycles) * d->steps_per_cycle;
    if (steps > 4e9) return fields_refuse(&time, "simulate_ms", "at most 4e9 steps with the warm-up", error);
    return true;
}

/// Reads an object with the name of a placement, and either the file that says where neurons are or weights
/// of ranks. Anything else is the name.
static bool read_placement(struct description *d, struct error *error) {
    const json_t *given = json_object_get(d->json.object, "placement");
    struct fields placement;
    d->placement = json_string_value(given);
    if (!json_is_object(given)) return true;
    if (!fields_enter(&d->json, "placement", true, &placement, error) ||
        !fields_read(&placement, &table_of_placement, d, error))
        return false;
    if (!placement_find(d->placement))
        return fields_refuse(&placement, "name", registry_names(placement_rules).text, error);
    d->placement_weights = json_object_get(given, "weights");
    d->placement_file = json_string_value(json_object_get(given, "file"));
    if (d->placement_weights && d->placement_file)
        return fields_refuse(&placement, "weights", "without a file, which may have weights of its own",
                             error);
    return d->placement_weights || d->placement_file ||
           error_set(error, "placement.file: missing; expected a file or weights, or the name alone");
}

/// Reads a time in ns: one for all ranks, or a list with one for each.
static bool read_per_rank(const struct fields *fields, const char *name, struct per_rank *per_rank,
                          struct error *error) {
    // One number serves all ranks.
    const json_t *given = json_object_get(fields->object, name);
    const bool list = json_is_array(given);
    per_rank->values = ALLOC_ZERO(double, list ? json_array_size(given) + 1 : 1);
    per_rank->n = list ? (int)json_array_size(given) : 1;
    for (int i = 0; i < per_rank->n; i++)
        per_rank->values[i] = json_number_value(list ? json_array_get(given, (size_t)i) : given);
    return per_rank->n > 0 || fields_refuse(fields, name, "a number for each rank", error);
}

bool description_check_ranks(const struct description *d, int ranks, struct error *error) {
    const struct per_rank *lists[] = {&d->inject_synapse_ns, &d->inject_neuron_ns};
    static const char *const names[] = {"per_synapse_ns", "per_neuron_ns"};
    for (size_t i = 0; i < COUNT(lists); i++)
        if (lists[i]->n != 1 && lists[i]->n != ranks)
            return error_set(error, "inject.%s: %d values; expected 1, or %d, one for each rank of this run",
                             names[i], lists[i]->n, ranks);
    return true;
}

/// Reads the injected waits, of which all fields have defaults.
static bool read_inject(struct description *d, struct error *error) {
    struct fields inject, minor;
    if (!fields_enter(&d->json, "inject", false, &inject, error) ||
        !fields_read(&inject, &table_of_inject, d, error) ||
        !fields_enter(&inject, "minor_mode", false, &minor, error) ||
        !fields_read(&minor, &table_of_minor_mode, d, error) ||
        !read_per_rank(&inject, "per_synapse_ns", &d->inject_synapse_ns, error) ||
        !read_per_rank(&inject, "per_neuron_ns", &d->inject_neuron_ns, error))
        return false;
    d->inject_sleeps = strcmp(d->given.inject_wait, "sleep") == 0;
    return true;
}

/// Refuses a list in which a name is there twice.
static bool check_different(const struct fields *record, const char *field, struct error *error) {
    const json_t *names = json_object_get(record->object, field);
    for (size_t i = 0; i < json_array_size(names); i++)
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(names, i), json_array_get(names, j)))
                return fields_refuse(record, field, "a list of different names", error);
    return true;
}

/// Reads true, false, or a list of names. Only the meters know which names there are.
static bool read_counters(struct description *d, const struct fields *record, struct error *error) {
    const json_t *field = json_object_get(record->object, "counters");
    const size_t n = json_array_size(field);
    d->record_counters = json_is_true(field) || json_is_array(field);
    if (json_is_array(field) && n == 0)
        return fields_refuse(record, "counters", "true, false, or a list of different names", error);
    d->counters = ALLOC(const char *, n);
    for (size_t i = 0; i < n; i++) d->counters[i] = json_string_value(json_array_get(field, i));
    d->n_counters = (int)n;
    return check_different(record, "counters", error);
}

/// Reads what is to be recorded.
static bool read_record(struct description *d, struct error *error) {
    struct fields record;
    if (!fields_enter(&d->json, "record", false, &record, error)) return false;
    if (json_is_false(json_object_get(record.object, "kernel"))) { // filled in by older versions
        json_object_del(record.object, "kernel");
        json_object_del(record.object, "kernel_interval_s");
    }
    if (!fields_read(&record, &table_of_record, d, error) || !read_counters(d, &record, error)) return false;
    if (!json_object_get(record.object, "energy_sensors"))
        json_object_set_new(record.object, "energy_sensors", json_array());
    return check_different(&record, "energy_sensors", error);
}

bool description_open(struct description *d, json_t *run, struct error *error) {
    memset(d, 0, sizeof *d);
    d->json = (struct fields){.object = run};
    // Fields of the top level first; then the objects in it.
    if (!json_is_object(run))
        return error_set(error, "the run description: not an object; expected a JSON object");
    if (!fields_read(&d->json, &table_of_run, d, error)) return false;
    // Fields that may be of several types are read here: a text, or NULL where they are something else.
    d->schedule = json_string_value(json_object_get(run, "schedule"));
    d->delay_ratio = (uint32_t)json_integer_value(json_object_get(run, "delay_ratio"));
    const char *delivery = json_string_value(json_object_get(run, "delivery"));
    d->reference_delivery = delivery && strcmp(delivery, "reference") == 0;
    return read_time(d, error) && read_placement(d, error) && read_record(d, error) &&
           read_inject(d, error) &&
           network_open(&d->network, &d->json, (uint64_t)d->given.seed, d->given.resolution_ms, error);
}

void description_close(struct description *description) {
    network_close(&description->network);
    FREE(description->inject_synapse_ns.values, description->inject_neuron_ns.values, description->counters);
    json_decref(description->exchange_files);
    json_decref(description->json.object);
}

/// Sets the field or item `key` of an object or list to `value`, which it owns, or where that is NULL, steps
/// into it. An object that is missing is made. \return what is there; NULL after an error.
static json_t *step(json_t *at, const char *key, json_t *value, const char *assignment, struct error *error) {
    const size_t n = json_array_size(at);
    if (json_is_array(at)) {
        char *end = NULL;
        // An item of a list, by its number.
        const size_t index = isdigit((unsigned char)*key) ? strtoul(key, &end, 10) : n;
        if (index < n && *end == '\0') {
            if (value) json_array_set_new(at, index, value);
            return json_array_get(at, index);
        }
        json_decref(value);
        if (n == 0)
            error_set(error, "--set %s: %s; expected no item, the list is empty", assignment, key);
        else
            error_set(error, "--set %s: %s; expected an item from 0 to %zu", assignment, key, n - 1);
        return NULL;
    }
    // A field of an object.
    const bool sets = value != NULL;
    json_t *inner = json_object_get(at, key);
    if (!value && !inner && json_is_object(at)) value = json_object();
    if (value) json_object_set_new(at, key, inner = value);
    if (sets || json_is_object(inner) || json_is_array(inner)) return inner;
    error_set(error, "--set %s: %s is not an object or a list; expected path.to.field=value", assignment,
              key);
    return NULL;
}

bool description_override(json_t *run, const char *assignment, struct error *error) {
    enum { deepest = 32 };
    const char *equals = strchr(assignment, '=');
    json_t *text = json_string(assignment);
    const bool is_utf8 = text != NULL;
    json_decref(text);
    if (!is_utf8)
        return error_set(error, "--set: an assignment that is not UTF-8; expected path.to.field=value");
    if (!equals || equals == assignment)
        return error_set(error, "--set %.200s: no field or no value; expected path.to.field=value",
                         assignment);
    int depth = 0;
    for (const char *c = assignment; c < equals; c++) depth += *c == '.';
    if (depth > deepest)
        return error_set(error, "--set %.40s...: %d levels; expected at most %d", assignment, depth, deepest);
    char *path = alloc_string(assignment), *rest = path, *key;
    path[equals - assignment] = '\0';

    // The value is JSON, or where it is none, text.
    json_t *at = run, *value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!value) value = json_string(equals + 1);
    while ((key = strsep(&rest, ".")) && rest && at) at = step(at, key, NULL, assignment, error);
    if (at)
        step(at, key, value, assignment, error);
    else
        json_decref(value);
    free(path);
    return !error_stands(error);
}
