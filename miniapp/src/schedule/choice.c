#include "schedule/choice.h"

#include "schedule/choice_levels.h"
#include <stdio.h>

/// Says whether `value` is an exchange, and not an object {lane: exchange}.
static bool is_choice(const json_t *value) {
    return json_is_string(value) || json_object_get(value, "name");
}

/// Returns what the description chooses for the lane in `field`, "exchange" or "wire"; NULL if nothing.
static json_t *chosen(const struct description *description, const char *field, const char *lane) {
    json_t *value = json_object_get(description->json.object, field);
    return is_choice(value) ? value : json_object_get(value, lane);
}

/// Returns the exchange of a lane for which the description has none.
static const char *fallback(const struct lane_plan *lane) {
    return lane->lag > 0 ? "ialltoallv" : "alltoallv";
}

static bool choose_exchange(struct lane_plan *lane, const struct description *description,
                            struct error *error) {
    static const char *const simple[] = {"name"};
    json_t *value = chosen(description, "exchange", lane->name);
    const char *name = json_string_value(json_is_object(value) ? json_object_get(value, "name") : value);
    const int ranks = lane->groups.largest;
    if (!name) name = value ? "" : fallback(lane);
    lane->exchange = (struct exchange_spec){.backend = exchange_find(name)};
    if (!lane->exchange.backend || !choice_serves(lane->exchange.backend, ranks, false))
        return choice_refuse(value, lane->exchange.backend, "", lane, ranks, error);
    if (!json_is_object(value) && !lane->exchange.backend->composed) return true;

    struct fields choice = {.object = json_is_object(value) ? value : json_object()};
    snprintf(choice.path, sizeof choice.path, "exchange.%.60s.", lane->name);
    bool known = lane->exchange.backend->composed
                     ? choice_levels(lane, &choice, description->exchange_files, error)
                     : fields_only(&choice, simple, 1, error);
    if (!json_is_object(value)) json_decref(choice.object);
    return known;
}

static bool choose_wire(struct lane_plan *lane, const struct description *description, struct error *error) {
    json_t *value = chosen(description, "wire", lane->name);
    char text[80];
    lane->wire = wire_find(value ? json_is_string(value) ? json_string_value(value) : "" : "compact");
    if (lane->wire) return true;
    return error_set(error, "wire: %s for lane %s; allowed: %s", choice_shown(value, text), lane->name,
                     registry_names(wire_formats).text);
}

void choice_fill_in(struct description *description, const struct schedule *schedule) {
    json_t *run = description->json.object, *exchange = json_object(), *wire = json_object();
    bool overlaps = false;
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        overlaps = overlaps || lane->lag > 0;
        json_object_set_new(exchange, lane->name, json_string(fallback(lane)));
        json_object_set_new(wire, lane->name, json_string("compact"));
    }
    if (!json_object_get(run, "wire")) json_object_set_new(run, "wire", json_string("compact"));
    if (!json_object_get(run, "exchange"))
        json_object_set(run, "exchange",
                        overlaps ? exchange : json_object_get(exchange, schedule->lanes->name));
    if (!is_choice(json_object_get(run, "wire")))
        json_object_update_missing(json_object_get(run, "wire"), wire);
    if (!is_choice(json_object_get(run, "exchange")))
        json_object_update_missing(json_object_get(run, "exchange"), exchange);
    json_decref(exchange);
    json_decref(wire);
}

bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error) {
    if (!choose_exchange(lane, description, error)) return false;
    if (lane->groups.largest == 1) {
        levels_close(&lane->exchange.levels);
        lane->exchange = (struct exchange_spec){.backend = exchange_find("self")};
    }
    return choose_wire(lane, description, error);
}

bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                        struct error *error) {
    static const char *const fields[] = {"exchange", "wire"};
    const char *names[schedule_lanes_max];
    for (int i = 0; i < rule->n_lanes; i++) names[i] = rule->lanes[i].name;
    for (int i = 0; i < 2; i++) {
        json_t *value = json_object_get(description->json.object, fields[i]);
        struct fields object;
        if (!value || is_choice(value)) continue;
        if (!fields_enter(&description->json, fields[i], true, &object, error) ||
            !fields_only(&object, names, (size_t)rule->n_lanes, error))
            return false;
    }
    return true;
}
