/// \file
/// The table of schedules, each a list of lanes, and reading a list of lanes from a description.
///
/// To add a schedule, add an entry to schedule_rules; nothing else has to change, since a schedule is data. A
/// description may also have a list of lanes of its own. lane_rules_read() reads either, and check_order()
/// makes sure that lanes widen, so that each synapse belongs to the first lane that can carry it.

#include "base/registry.h"
#include "description/field_table.h"
#include "schedule/schedule.h"

// clang-format off
#define NEAR                     {"near", group_area, 1, 0, false}
#define WORLD(name, period, lag) {name, group_world, period, lag, false}
const struct schedule_rule *const schedule_rules[] = {
    ENTRY(schedule_rule, "conventional", "all ranks exchange in every cycle; neurons dealt round-robin",
          "round_robin", {WORLD("world", 1, 0)}, 1),
    ENTRY(schedule_rule, "placement_only", "all ranks exchange in every cycle; neurons placed by area",
          "area", {WORLD("world", 1, 0)}, 1),
    ENTRY(schedule_rule, "structure_aware",
          "near: within an area in every cycle; far: between areas every D cycles",
          "area", {NEAR, WORLD("far", period_delay_ratio, 0)}, 2),
    ENTRY(schedule_rule, "overlapped",
          "near as structure_aware; far: every D/(L+1) cycles, due L windows later (L: field lag, 1)",
          "area", {NEAR, WORLD("far", period_delay_ratio, lag_given)}, 2),
    ENTRY(schedule_rule, "hierarchical",
          "near as structure_aware; group: about sqrt(ranks) ranks, as rarely as is exact; far: every D",
          "area", {NEAR, {"group", group_square, period_auto, 0, false}, WORLD("far", period_delay_ratio, 0)}, 3),
    NULL};
// clang-format on

/// The fields of a lane that need no interpretation.
struct given_lane {
    const char *name;
    double lag;
};

// clang-format off
static const struct field of_lane[] = {
    TEXT("name", offsetof(struct given_lane, name)),
    // name, types, at, fallback, low, high, text, words, items: the columns of struct field
    {"group",  type_integer | type_text, FIELD_APART, 0, 1, 1e6, "world", "area, world", 0},
    {"from",   type_text | type_list,    FIELD_APART, ABSENT, 0, 0, NULL, NULL, type_text},
    {"to",     type_text | type_list,    FIELD_APART, ABSENT, 0, 0, NULL, NULL, type_text},
    {"period", type_integer | type_text, FIELD_APART, 1, 1, 1e6, NULL, "D, auto", 0},
    INTEGER("lag", offsetof(struct given_lane, lag), 0, 0, 1000)};
// clang-format on
const struct field_table table_of_lane = FIELD_TABLE("schedule.*.", of_lane);

/// Returns a field that is an integer, or `special` where it is this word. Any other text that the table of
/// fields lets through stands for `usual`.
static int number_or_word(const struct fields *fields, const char *name, int usual, const char *word,
                          int special) {
    const json_t *field = json_object_get(fields->object, name);
    if (json_is_integer(field)) return (int)json_integer_value(field);
    return strcmp(json_string_value(field), word) == 0 ? special : usual;
}

/// Reads lane number rule->n_lanes of a list. Fails where an earlier one has its name.
static bool read_lane(struct schedule_rule *rule, const struct fields *lane, struct error *error) {
    struct lane_rule *read = &rule->lanes[rule->n_lanes];
    struct given_lane given;
    if (!fields_read(lane, &table_of_lane, &given, error)) return false;
    read->name = given.name;
    read->group = number_or_word(lane, "group", group_world, "area", group_area);
    read->period = number_or_word(lane, "period", period_delay_ratio, "auto", period_auto);
    read->lag = (int)given.lag;
    read->bound = json_object_get(lane->object, "from") || json_object_get(lane->object, "to");
    for (int i = 0; i < rule->n_lanes; i++)
        if (strcmp(rule->lanes[i].name, read->name) == 0)
            return fields_refuse(lane, "name", "a name that no lane before it has", error);
    return true;
}

/// Checks that lanes widen: first the area, then blocks of ranks, each a multiple of the one before, then all
/// ranks. Lanes between given areas may stand anywhere before the last.
static bool check_order(const struct schedule_rule *rule, const struct description *d, int i,
                        struct error *error) {
    const int group = rule->lanes[i].group;
    int before = i - 1;
    struct fields lane;
    while (before >= 0 && rule->lanes[before].bound) before--;
    if (!fields_item(&d->json, "schedule", (size_t)i, &lane, error)) return false;
    // Lanes between areas connect these areas and no other ranks.
    if (rule->lanes[i].bound)
        return group == group_world ||
               fields_refuse(&lane, "group", "\"world\" in a lane that has from or to", error);
    // All ranks: nothing can be wider.
    if (group == group_world)
        return i + 1 == rule->n_lanes ||
               fields_refuse(&lane, "group",
                             "\"area\" or an integer in all lanes but the last, or a field from or to",
                             error);
    // Blocks of ranks must contain those of the lane before.
    if (before < 0) return true;
    if (group == group_area)
        return fields_refuse(&lane, "group", "\"area\" only in the first lane without from and to", error);
    if (rule->lanes[before].group > 0 &&
        (group <= rule->lanes[before].group || group % rule->lanes[before].group != 0))
        return fields_refuse(&lane, "group", "a larger multiple of the group of the lane before", error);
    return true;
}

bool lane_rules_read(struct schedule_rule *rule, const struct description *d, struct error *error) {
    if (d->schedule) {
        const struct schedule_rule *found = registry_find(schedule_rules, d->schedule);
        struct name_list expected = registry_names(schedule_rules);
        name_list_add(&expected, "or a list of lanes");
        if (!found) return fields_refuse(&d->json, "schedule", expected.text, error);
        *rule = *found;
        return true;
    }
    // No name, so it is a list.
    const size_t n = json_array_size(json_object_get(d->json.object, "schedule"));
    *rule = (struct schedule_rule){.name = "lanes", .placement = "area"};
    if (n < 1 || n > schedule_lanes_max)
        return error_set(error, "schedule: a list of %zu lanes; expected 1 to %d", n, schedule_lanes_max);
    for (size_t i = 0; i < n; i++, rule->n_lanes++) {
        struct fields lane;
        if (!fields_item(&d->json, "schedule", i, &lane, error) || !read_lane(rule, &lane, error))
            return false;
    }
    for (int i = 0; i < rule->n_lanes; i++)
        if (!check_order(rule, d, i, error)) return false;
    return true;
}
