/// \file
/// Reads `exchange` and `wire` of the description: one name for all lanes, or one for each.
///
/// Where the description says nothing, lanes without a lag get alltoallv, those with one ialltoallv, which
/// goes on while neurons are updated. A lane in which every rank is alone gets `self` whatever was chosen.
/// Composed exchanges have fields of their own, which the variants read (levels_hooks->choose()).

#include "schedule/choice.h"

#include "base/registry.h"
#include <stdio.h>
#include <stdlib.h>

bool choice_serves(const struct exchange_backend *backend, int ranks, bool part) {
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks) &&
           !(part && (backend->broadcast || backend->composed));
}

const char *choice_shown(const json_t *value, char text[80]) {
    char *json = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    snprintf(text, 80, "%.70s%s", json ? json : "nothing", json && strlen(json) > 70 ? "..." : "");
    free(json);
    return text;
}

bool choice_refuse(const json_t *value, const struct exchange_backend *asked, const char *role,
                   const struct lane_plan *lane, int ranks, struct error *error) {
    struct name_list allowed = {"", 0};
    char text[80];
    // Only those that would do here are listed.
    for (int i = 0; exchange_backends[i]; i++)
        if (choice_serves(exchange_backends[i], ranks, *role))
            name_list_add(&allowed, exchange_backends[i]->name);
    return error_set(error, "exchange: %s%s for lane %s on %d rank(s)%s%s; expected %s", role,
                     choice_shown(value, text), lane->name, ranks, asked && asked->absent ? ", and " : "",
                     asked && asked->absent ? asked->absent : "", allowed.text);
}

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

/// Chooses the exchange of a lane, and reads of what it is composed. Fails where it cannot serve the lane.
static bool choose_exchange(struct lane_plan *lane, const struct description *description,
                            struct error *error) {
    json_t *value = chosen(description, "exchange", lane->name);
    const char *name = json_string_value(json_is_object(value) ? json_object_get(value, "name") : value);
    const int ranks = lane->groups.largest;
    if (!name) name = value ? "" : fallback(lane);
    lane->exchange = (struct exchange_spec){.backend = exchange_find(name)};
    if (!lane->exchange.backend || !choice_serves(lane->exchange.backend, ranks, false))
        return choice_refuse(value, lane->exchange.backend, "", lane, ranks, error);
    // A name is all there is to read of an ordinary exchange.
    if (!json_is_object(value) && !lane->exchange.backend->composed) return true;

    // Defaults are filled into a copy: they depend on the lane, and the choice may be that of all lanes.
    struct fields choice = {.object =
                                json_is_object(value) ? json_copy(value) : json_pack("{ss}", "name", name)};
    snprintf(choice.path, sizeof choice.path, "exchange.%.60s.", lane->name);
    bool known = lane->exchange.backend->composed
                     ? levels_hooks->choose(lane, &choice, description->exchange_files, error)
                     : FIELDS_ONLY(&choice, error, "name");
    json_decref(choice.object);
    return known;
}

void choice_fill_in(struct description *description, const struct schedule *schedule) {
    json_t *run = description->json.object, *exchange = json_object(), *wire = json_object();
    bool overlaps = false;
    // What each lane has by default.
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        overlaps = overlaps || lane->lag > 0;
        json_object_set_new(exchange, lane->name, json_string(fallback(lane)));
        json_object_set_new(wire, lane->name, json_string("compact"));
    }
    if (!json_object_get(run, "wire")) json_object_set_new(run, "wire", json_string("compact"));
    // One name is enough unless lanes differ.
    if (!json_object_get(run, "exchange"))
        json_object_set(run, "exchange",
                        overlaps ? exchange : json_object_get(exchange, schedule->lanes->name));
    if (!is_choice(json_object_get(run, "wire")))
        json_object_update_missing(json_object_get(run, "wire"), wire);
    // An object gets what it does not name.
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
    // The wire format needs no check but its name.
    json_t *value = chosen(description, "wire", lane->name);
    char text[80];
    lane->wire = wire_find(value ? json_is_string(value) ? json_string_value(value) : "" : "compact");
    return lane->wire || error_set(error, "wire: %s for lane %s; expected %s", choice_shown(value, text),
                                   lane->name, registry_names(wire_formats).text);
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
        if (!json_is_object(value))
            return fields_refuse(&description->json, fields[i], "a name, or an object {lane: name}", error);
        if (!fields_enter(&description->json, fields[i], true, &object, error) ||
            !fields_only(&object, names, (size_t)rule->n_lanes, error))
            return false;
    }
    return true;
}
