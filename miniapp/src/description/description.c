#include "description/description.h"

#include "base/alloc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/// Reads all scalar fields of one section, which `fields` holds.
static bool read_section(struct description *description, const char *section, const struct fields *fields,
                         struct error *error) {
#define PARAMETER_READ(kind, member, in, field, fallback, low, high)                                         \
    if (strcmp(section, in) == 0 &&                                                                          \
        !fields_##kind(fields, field, fallback,                                                              \
                       PARAMETER_LIMITS_##kind(low, high) & description->given.member, error))               \
        return false;
#define PARAMETER_LIMITS_number(low, high)  low, high,
#define PARAMETER_LIMITS_integer(low, high) low, high,
#define PARAMETER_LIMITS_boolean(low, high)
    RUN_PARAMETERS(PARAMETER_READ)
    return true;
}

/// Refuses fields that are neither scalar fields of the section nor among the `extra` names.
static bool only_known(const char *section, const struct fields *fields, const char *const *extra,
                       size_t n_extra, struct error *error) {
    const char *names[32];
    size_t n = 0;
#define PARAMETER_NAME(kind, member, in, field, fallback, low, high)                                         \
    if (strcmp(section, in) == 0) names[n++] = field;
    RUN_PARAMETERS(PARAMETER_NAME)
    for (size_t i = 0; i < n_extra; i++) names[n++] = extra[i];
    return fields_only(fields, names, n, error);
}

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
    if (!fields_enter(&d->json, "time", true, &time, error) || !only_known("time", &time, NULL, 0, error) ||
        !read_section(d, "time", &time, error))
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

/// Checks that a field holds a name for all lanes or a choice for each lane. Choices may be objects where the
/// field is "exchange". An absent field is filled in when the lanes are known.
static bool check_choice(struct description *d, const char *field, const char *allowed, struct error *error) {
    json_t *choice = json_object_get(d->json.object, field), *value;
    const char *key;
    bool valid = !choice || json_is_string(choice) || json_is_object(choice);
    if (json_is_object(choice) && !json_object_get(choice, "name"))
        json_object_foreach(choice, key, value) valid =
            valid && (json_is_string(value) || json_is_object(value));
    return valid || fields_refuse(&d->json, field, allowed, error);
}

/// Reads the name of a placement, or an object with the name and either the file that says where neurons are
/// or weights of ranks.
static bool read_placement(struct description *d, struct error *error) {
    static const char *const names[] = {"name", "file", "weights"};
    const json_t *given = json_object_get(d->json.object, "placement");
    struct fields placement;
    if (!given) return true;
    if (!json_is_object(given)) return fields_string(&d->json, "placement", NULL, &d->placement, error);
    if (!fields_enter(&d->json, "placement", true, &placement, error) ||
        !fields_only(&placement, names, COUNT(names), error) ||
        !fields_string(&placement, "name", NULL, &d->placement, error))
        return false;
    d->placement_weights = json_object_get(given, "weights");
    if (d->placement_weights && !json_object_get(given, "file"))
        return json_is_array(d->placement_weights) ||
               fields_refuse(&placement, "weights", "a list of a number for each rank", error);
    if (d->placement_weights)
        return fields_refuse(&placement, "weights", "without a file, which may have weights of its own",
                             error);
    if (!fields_string(&placement, "file", NULL, &d->placement_file, error)) return false;
    const size_t length = strlen(d->placement_file);
    return (length > 5 && strcmp(d->placement_file + length - 5, ".json") == 0) ||
           fields_refuse(&placement, "file",
                         "FILE.json, as `spikemark partition ... --out FILE.json` writes it", error);
}

static bool read_names(struct description *d, struct error *error) {
    d->schedule = NULL;
    json_t *schedule = json_object_get(d->json.object, "schedule");
    if (schedule && !json_is_array(schedule) && !json_is_string(schedule))
        return fields_refuse(&d->json, "schedule", "a name or a list of lanes", error);
    if (!json_is_array(schedule) && !fields_string(&d->json, "schedule", "conventional", &d->schedule, error))
        return false;
    return read_placement(d, error) &&
           check_choice(d, "exchange", "a name, an object with a name, or {lane: name or object}", error) &&
           check_choice(d, "wire", "a name, or an object {lane: name}", error);
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
            return error_set(error, "inject.%s: %d values; allowed: 1, or %d, one for each rank of this run",
                             names[i], lists[i]->n, ranks);
    return true;
}

static bool read_inject(struct description *d, struct error *error) {
    static const char *const names[] = {"minor_mode", "wait", "per_synapse_ns", "per_neuron_ns"};
    struct fields inject, minor;
    const char *wait;
    if (!fields_enter(&d->json, "inject", false, &inject, error) ||
        !only_known("inject", &inject, names, COUNT(names), error) ||
        !read_section(d, "inject", &inject, error) || !fields_string(&inject, "wait", "spin", &wait, error) ||
        !fields_enter(&inject, "minor_mode", false, &minor, error) ||
        !only_known("inject.minor_mode", &minor, NULL, 0, error) ||
        !read_section(d, "inject.minor_mode", &minor, error) ||
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

static bool read_sensors(struct description *d, const struct fields *record, struct error *error) {
    if (!json_object_get(record->object, "energy_sensors"))
        json_object_set_new(record->object, "energy_sensors", json_array());
    return read_list(record, "energy_sensors", "a list of different names", &d->sensors, &d->n_sensors,
                     error);
}

static bool read_record(struct description *d, struct error *error) {
    static const char *const names[] = {"counters", "energy_sensors", "idle_pause_s"};
    struct fields record;
    if (!fields_enter(&d->json, "record", false, &record, error) ||
        !only_known("record", &record, names, COUNT(names), error) ||
        !read_section(d, "record", &record, error) || !read_counters(d, &record, error) ||
        !read_sensors(d, &record, error))
        return false;
    d->pause_asked_for = json_object_get(record.object, "idle_pause_s");
    return fields_number(&record, "idle_pause_s", d->given.record_energy != 0 ? 5 : 0, 0, 3600,
                         &d->idle_pause_s, error);
}

bool description_open(struct description *d, json_t *run, struct error *error) {
    static const char *const names[] = {"time", "delay_ratio", "schedule", "placement", "exchange",
                                        "wire", "network",     "record",   "inject"};
    memset(d, 0, sizeof *d);
    d->json = (struct fields){.object = run};
    if (!json_is_object(run))
        return error_set(error, "the run description: not an object; allowed: a JSON object");
    return only_known("", &d->json, names, COUNT(names), error) && read_section(d, "", &d->json, error) &&
           read_time(d, error) && read_delay_ratio(d, error) && read_names(d, error) &&
           read_record(d, error) && read_inject(d, error) &&
           network_open(&d->network, &d->json, (uint64_t)d->given.seed, d->given.resolution_ms, error);
}

void description_close(struct description *description) {
    network_close(&description->network);
    free(description->inject_synapse_ns.values);
    free(description->inject_neuron_ns.values);
    free(description->counters);
    free(description->sensors);
    json_decref(description->exchange_files);
    json_decref(description->json.object);
}

bool description_refuse_name(const struct description *description, const char *field, const char *allowed,
                             struct error *error) {
    return fields_refuse(&description->json, field, allowed, error);
}
