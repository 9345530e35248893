#include "schedule/schedule.h"
#include <stdio.h>
#include <stdlib.h>

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

/// Reads a field that is an integer from 1 on, or one of two words, which stand for the values `a` and `b`.
static bool number_or_word(const struct fields *fields, const char *name, int fallback, int *value,
                           const char *word_a, int a, const char *word_b, int b, struct error *error) {
    const json_t *field = json_object_get(fields->object, name);
    const char *word = json_string_value(field);
    char allowed[80];
    double number;
    *value = !field ? fallback : word && strcmp(word, word_a) == 0 ? a : b;
    if (!field || (word && (strcmp(word, word_a) == 0 || strcmp(word, word_b) == 0))) return true;
    snprintf(allowed, sizeof allowed, "an integer from 1 to 1000000, \"%s\" or \"%s\"", word_a, word_b);
    if (!json_is_integer(field) || json_integer_value(field) < 1 || json_integer_value(field) > 1000000)
        return fields_refuse(fields, name, allowed, error);
    if (!fields_integer(fields, name, 1, 1, 1e6, &number, error)) return false;
    *value = (int)number;
    return true;
}

static bool read_lane(struct schedule_rule *rule, const struct fields *lane, struct error *error) {
    struct lane_rule *read = &rule->lanes[rule->n_lanes];
    double lag;
    if (!FIELDS_ONLY(lane, error, "name", "group", "period", "lag", "from", "to") ||
        !fields_string(lane, "name", NULL, &read->name, error) ||
        !number_or_word(lane, "group", group_world, &read->group, "area", group_area, "world", group_world,
                        error) ||
        !number_or_word(lane, "period", 1, &read->period, "D", period_delay_ratio, "auto", period_auto,
                        error) ||
        !fields_integer(lane, "lag", 0, 0, 1000, &lag, error))
        return false;
    read->lag = (int)lag;
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
    if (rule->lanes[i].bound)
        return group == group_world ||
               fields_refuse(&lane, "group", "\"world\" in a lane that has from or to", error);
    if (group == group_world)
        return i + 1 == rule->n_lanes ||
               fields_refuse(&lane, "group",
                             "\"area\" or an integer in all lanes but the last, or a field from or to",
                             error);
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
