/// \file
/// Makes an object of a planned lane. Numbers that say nothing there, such as the slack of a lane without
/// synapses, are null.

#include "schedule/lane_json.h"

#include "description/known.h"

/// Returns what a composed exchange is composed of as a new object, or null.
static json_t *levels_json(const struct lane_plan *lane) {
    const struct levels *asked = &lane->exchange.levels;
    // Not composed; then two levels whose last group may be smaller; then a grid.
    if (asked->n == 0) return json_null();
    if (asked->ragged)
        return json_pack("{ss ss si}", "inner", asked->part[0]->name, "outer", asked->part[1]->name, "group",
                         asked->size[0]);
    const struct levels levels = levels_resolve(asked, lane->groups.largest);
    json_t *dimensions = json_array(), *parts = json_array();
    json_t *order = levels.position ? json_string(lane->order_file) : json_null();
    json_t *table = levels.bridge ? json_string(lane->table_file) : json_null();
    for (int l = 0; l < levels.n; l++) {
        json_array_append_new(dimensions, json_integer(levels.size[l]));
        json_array_append_new(parts, json_string(levels.part[l]->name));
    }
    return json_pack("{so so ss sb so so}", "dimensions", dimensions, "parts", parts, "side",
                     levels.receiver ? "receiver" : "sender", "merge", (int)levels.merge, "order", order,
                     "table", table);
}

json_t *lane_json(const struct lane_plan *lane, const struct description *description) {
    // A lane without synapses has no shortest delay, and no slack.
    const double h = description->given.resolution_ms,
                 delay = lane->shortest_delay ? lane->shortest_delay : NAN;
    // By how much the shortest delay exceeds what it must be, P (L + 1) d_min, rounded to 1e-9 ms.
    const double window = (double)lane->period * (lane->lag + 1) * description->steps_per_cycle * h;
    const double slack = nearbyint((delay * h - window) * 1e9) / 1e9;
    // A lag helps nothing where the exchange does all its work at the end of it.
    const bool blocks = lane->lag > 0 && lane->groups.largest > 1 && !lane->exchange.backend->start;
    return json_pack("{ss sI sI ss sb so ss si si so so}", "name", lane->name, "period",
                     (json_int_t)lane->period, "lag", (json_int_t)lane->lag, "exchange",
                     lane->exchange.backend->name, "blocks", (int)blocks, "composed", levels_json(lane),
                     "wire", lane->wire->name, "ranks", lane->groups.largest, "groups", lane->groups.groups,
                     "slack", known(slack), "shortest_delay_ms", known(delay * h));
}
