#include "description/description.h"

#include "base/alloc.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define GIVEN(member) offsetof(struct description, given.member)

// clang-format off
static const struct field fields_of_run[] = {
    INTEGER("format_version",   GIVEN(format_version), REQUIRED, 1, 1),
    INTEGER("seed",             GIVEN(seed),           1,        0, 9007199254740992.0),
    INTEGER("lag",              GIVEN(lag),            1,        1, 1000),
    KNOWN("time"), KNOWN("delay_ratio"), KNOWN("schedule"), KNOWN("placement"), KNOWN("exchange"), KNOWN("wire"),
    KNOWN("network"), KNOWN("record"), KNOWN("inject")},
fields_of_time[] = {
    NUMBER("resolution_ms",     GIVEN(resolution_ms),  0.1,      1e-6, 1000),
    NUMBER("cycle_ms",          GIVEN(cycle_ms),       0,        0,    1000),
    NUMBER("warmup_ms",         GIVEN(warmup_ms),      0,        0,    1e9),
    NUMBER("simulate_ms",       GIVEN(simulate_ms),    REQUIRED, 1e-6, 1e9)},
fields_of_record[] = { // those of energy are for `spikemark run`, which reads the meters of nodes
    BOOLEAN("cycles",           GIVEN(record_cycles),  1),
    BOOLEAN("spikes",           GIVEN(record_spikes),  0),
    BOOLEAN("barrier",          GIVEN(barrier),        1),
    BOOLEAN("energy",           GIVEN(record_energy),  0),
    NUMBER("energy_interval_s", GIVEN(energy_interval_s), 0.1,   0.001, 30),
    KNOWN("counters"), KNOWN("energy_sensors"), KNOWN("idle_pause_s")},
fields_of_inject[] = {
    NUMBER("mean_us",           GIVEN(inject_mean_us), 0,        0, 1e7),
    NUMBER("sd_us",             GIVEN(inject_sd_us),   0,        0, 1e7),
    NUMBER("correlation",       GIVEN(inject_serial),  0,        0, 0.9999),
    NUMBER("rank_sd_us",        GIVEN(inject_rank_us), 0,        0, 1e7),
    KNOWN("minor_mode"), KNOWN("wait"), KNOWN("per_synapse_ns"), KNOWN("per_neuron_ns")},
fields_of_minor_mode[] = {
    NUMBER("share",             GIVEN(inject_share),   0,        0, 1),
    NUMBER("factor",            GIVEN(inject_factor),  1,        0, 1e6)};
// clang-format on

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

static bool read_time(struct description *d, struct error *error) {
    struct fields time;
    if (!fields_enter(&d->json, "time", true, &time, error) || !FIELDS_READ(&time, fields_of_time, d, error))
        return false;
    if (d->given.cycle_ms == 0) {
        d->given.cycle_ms = d->given.resolution_ms;
        json_object_set_new(time.object, "cycle_ms", json_real(d->given.cycle_ms));
    }
    double h = d->given.resolution_ms, d_min = d->given.cycle_ms;
    if (!whole(&time, "cycle_ms", d_min, h, "the resolution", &d->steps_per_cycle, error)) return false;
    if (d->steps_per_cycle == 0)
        return fields_refuse(&time, "cycle_ms", "at least the resolution time.resolution_ms", error);
    if (!whole(&time, "warmup_ms", d->given.warmup_ms, d_min, "the cycle", &d->warmup_cycles, error) ||
        !whole(&time, "simulate_ms", d->given.simulate_ms, d_min, "the cycle", &d->cycles, error))
        return false;
    if (d->cycles == 0) return fields_refuse(&time, "simulate_ms", "at least one cycle", error);
    double steps = ((double)d->warmup_cycles + d->cycles) * d->steps_per_cycle;
    if (steps > 4e9) return fields_refuse(&time, "simulate_ms", "at most 4e9 steps with the warm-up", error);
    return true;
}

static bool read_delay_ratio(struct description *d, struct error *error) {
    const char *field = "delay_ratio", *text = json_string_value(json_object_get(d->json.object, field));
    double ratio = 0;
    if (text && strcmp(text, "auto") != 0)
        return fields_refuse(&d->json, field, "an integer >= 1, or auto", error);
    if (!text && !fields_integer(&d->json, field, 1, 1, delay_ratio_most, &ratio, error)) return false;
    d->delay_ratio = (uint32_t)ratio;
    return true;
}

/// Reads the name of a placement, or an object with the name and either the file that says where neurons are
/// or weights of ranks.
static bool read_placement(struct description *d, struct error *error) {
    const json_t *given = json_object_get(d->json.object, "placement");
    struct fields placement;
    if (!given) return true;
    if (!json_is_object(given)) return fields_string(&d->json, "placement", NULL, &d->placement, error);
    if (!fields_enter(&d->json, "placement", true, &placement, error) ||
        !FIELDS_ONLY(&placement, error, "name", "file", "weights") ||
        !fields_string(&placement, "name", NULL, &d->placement, error))
        return false;
    d->placement_weights = json_object_get(given, "weights");
    if (d->placement_weights && !json_object_get(given, "file"))
        return json_is_array(d->placement_weights) ||
               fields_refuse(&placement, "weights", "a list of a number for each rank", error);
    if (d->placement_weights)
        return fields_refuse(&placement, "weights", "without a file, which may have weights of its own",
                             error);
    return fields_string(&placement, "file", NULL, &d->placement_file, error);
}

static bool read_names(struct description *d, struct error *error) {
    d->schedule = NULL;
    json_t *schedule = json_object_get(d->json.object, "schedule");
    if (schedule && !json_is_array(schedule) && !json_is_string(schedule))
        return fields_refuse(&d->json, "schedule", "a name or a list of lanes", error);
    if (!json_is_array(schedule) && !fields_string(&d->json, "schedule", "conventional", &d->schedule, error))
        return false;
    return read_placement(d, error);
}

/// Reads a time in ns, at least 0: one for all ranks, or a list with one for each.
static bool read_per_rank(const struct fields *fields, const char *name, struct per_rank *per_rank,
                          struct error *error) {
    static const char *const allowed = "0 to 1e6, or a list with such a number for each rank";
    const json_t *given = json_object_get(fields->object, name);
    const bool list = json_is_array(given);
    if (!given) json_object_set_new(fields->object, name, json_real(0));
    per_rank->values = ALLOC_ZERO(double, list ? json_array_size(given) + 1 : 1);
    per_rank->n = list ? (int)json_array_size(given) : 1;
    if (list && per_rank->n == 0) return fields_refuse(fields, name, allowed, error);
    for (int i = 0; given && i < per_rank->n; i++) {
        const json_t *value = list ? json_array_get(given, (size_t)i) : given;
        per_rank->values[i] = json_number_value(value);
        if (!json_is_number(value) || !(per_rank->values[i] >= 0 && per_rank->values[i] <= 1e6))
            return fields_refuse(fields, name, allowed, error);
    }
    return true;
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

static bool read_inject(struct description *d, struct error *error) {
    struct fields inject, minor;
    const char *wait;
    if (!fields_enter(&d->json, "inject", false, &inject, error) ||
        !FIELDS_READ(&inject, fields_of_inject, d, error) ||
        !fields_string(&inject, "wait", "spin", &wait, error) ||
        !fields_enter(&inject, "minor_mode", false, &minor, error) ||
        !FIELDS_READ(&minor, fields_of_minor_mode, d, error) ||
        !read_per_rank(&inject, "per_synapse_ns", &d->inject_synapse_ns, error) ||
        !read_per_rank(&inject, "per_neuron_ns", &d->inject_neuron_ns, error))
        return false;
    d->inject_sleeps = strcmp(wait, "sleep") == 0;
    return d->inject_sleeps || strcmp(wait, "spin") == 0 ||
           fields_refuse(&inject, "wait", "spin, sleep", error);
}

/// Reads a list of different names into `list` [*count]. The strings are borrowed from the field.
static bool read_list(const struct fields *record, const char *field, const char *allowed, const char ***list,
                      int *count, struct error *error) {
    const json_t *names = json_object_get(record->object, field);
    if (!json_is_array(names)) return fields_refuse(record, field, allowed, error);
    *list = ALLOC(const char *, json_array_size(names));
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        for (int j = 0; name && j < *count; j++)
            if (strcmp((*list)[j], name) == 0) name = NULL;
        if (!name) return fields_refuse(record, field, allowed, error);
        (*list)[(*count)++] = name;
    }
    return true;
}

/// Reads true, false, or a list of names. Only the meters know which names there are.
static bool read_counters(struct description *d, const struct fields *record, struct error *error) {
    static const char *const allowed = "true, false, or a list of different names";
    json_t *field = json_object_get(record->object, "counters");
    if (!field) json_object_set_new(record->object, "counters", field = json_false());
    d->record_counters = json_is_true(field) || json_is_array(field);
    if (json_is_boolean(field)) return true;
    return read_list(record, "counters", allowed, &d->counters, &d->n_counters, error) &&
           (d->n_counters > 0 || fields_refuse(record, "counters", allowed, error));
}

static bool read_record(struct description *d, struct error *error) {
    const char **sensors = NULL;
    int n_sensors = 0;
    double pause_s;
    struct fields record;
    if (!fields_enter(&d->json, "record", false, &record, error)) return false;
    if (json_is_false(json_object_get(record.object, "kernel"))) { // filled in by older versions
        json_object_del(record.object, "kernel");
        json_object_del(record.object, "kernel_interval_s");
    }
    if (!json_object_get(record.object, "energy_sensors"))
        json_object_set_new(record.object, "energy_sensors", json_array());
    const bool good =
        FIELDS_READ(&record, fields_of_record, d, error) && read_counters(d, &record, error) &&
        read_list(&record, "energy_sensors", "a list of different names", &sensors, &n_sensors, error) &&
        (!json_object_get(record.object, "idle_pause_s") ||
         fields_number(&record, "idle_pause_s", 0, 0, 3600, &pause_s, error));
    free(sensors);
    return good;
}

bool description_open(struct description *d, json_t *run, struct error *error) {
    memset(d, 0, sizeof *d);
    d->json = (struct fields){.object = run};
    if (!json_is_object(run))
        return error_set(error, "the run description: not an object; expected a JSON object");
    return FIELDS_READ(&d->json, fields_of_run, d, error) && read_time(d, error) &&
           read_delay_ratio(d, error) && read_names(d, error) && read_record(d, error) &&
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
        const size_t index = isdigit((unsigned char)*key) ? strtoul(key, &end, 10) : n;
        if (index < n && *end == '\0') {
            if (value) json_array_set_new(at, index, value);
            return json_array_get(at, index);
        }
        json_decref(value);
        if (n == 0) error_set(error, "--set %s: %s; expected no item, the list is empty", assignment, key);
        error_set(error, "--set %s: %s; expected an item from 0 to %zu", assignment, key, n - 1);
        return NULL;
    }
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
    json_t *utf8 = json_string(assignment);
    json_decref(utf8);
    if (!utf8)
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
