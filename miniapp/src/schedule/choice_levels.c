#include "schedule/choice_levels.h"

#include "schedule/choice_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool choice_serves(const struct exchange_backend *backend, int ranks, bool part) {
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks) &&
           !(part && (backend->broadcast || backend->composed));
}

const char *choice_shown(const json_t *value, char text[80]) {
    char *json = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    snprintf(text, 80, "%.70s%s", json ? json : "nothing", json && strlen(json) > 70 ? "..." : "");
    free(json);
    return text;
}

bool choice_refuse(const json_t *value, const struct exchange_backend *asked, const char *role,
                   const struct lane_plan *lane, int ranks, struct error *error) {
    struct name_list allowed = {"", 0};
    char text[80];
    for (int i = 0; exchange_backends[i]; i++)
        if (choice_serves(exchange_backends[i], ranks, *role))
            name_list_add(&allowed, exchange_backends[i]->name);
    return error_set(error, "exchange: %s%s for lane %s on %d rank(s)%s%s; allowed: %s", role,
                     choice_shown(value, text), lane->name, ranks, asked && asked->absent ? ", and " : "",
                     asked && asked->absent ? asked->absent : "", allowed.text);
}

/// Finds a part by its name. `value` is what stands for it in the description.
static bool find_part(const struct exchange_backend **part, const char *name, const json_t *value,
                      const char *role, const struct lane_plan *lane, struct error *error) {
    // Of the communicators of the parts: two stands for several, since no back-end serves two but not three.
    const int ranks = lane->groups.largest > 1 ? 2 : 1;
    *part = exchange_find(name);
    if (*part && choice_serves(*part, ranks, true)) return true;
    return choice_refuse(value, NULL, role, lane, ranks, error);
}

/// Chooses one of the parts of a two_level.
static bool choose_part(const struct exchange_backend **part, const struct fields *choice, const char *role,
                        const struct lane_plan *lane, struct error *error) {
    const char *name;
    char spoken[16];
    snprintf(spoken, sizeof spoken, "%s ", role);
    return fields_string(choice, role, "alltoallv", &name, error) &&
           find_part(part, name, json_object_get(choice->object, role), spoken, lane, error);
}

static bool choose_two(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    static const char *const names[] = {"name", "inner", "outer", "group"};
    struct levels *levels = &lane->exchange.levels;
    const double fallback = nearbyint(sqrt(lane->groups.largest));
    double group;
    *levels = (struct levels){.n = 2, .ragged = true};
    if (!fields_only(choice, names, sizeof names / sizeof *names, error) ||
        !choose_part(&levels->part[0], choice, "inner", lane, error) ||
        !choose_part(&levels->part[1], choice, "outer", lane, error) ||
        !fields_integer(choice, "group", fallback, 1, lane->groups.largest, &group, error))
        return false;
    levels->size[0] = (int)group;
    return true;
}

/// Returns a number of ranks that the dimensions do not multiply to although a group of the lane has it; 0 if
/// there is none. Ranks that are alone exchange with nobody, unless there is only one at all.
static int misfit(const struct lane_plan *lane, const struct levels *levels) {
    const struct grouping *groups = &lane->groups;
    for (int rank = 0; rank < groups->ranks; rank++)
        if ((groups->size[rank] > 1 || groups->ranks == 1) && groups->size[rank] != levels_ranks(levels))
            return groups->size[rank];
    return 0;
}

static bool refuse_dimensions(const struct fields *choice, const struct lane_plan *lane, int ranks,
                              struct error *error) {
    char text[200];
    if (ranks)
        snprintf(text, sizeof text, "1 to %d integers whose product is %d, the ranks of %s of lane %.40s",
                 levels_max, ranks, lane->groups.groups > 1 ? "a group" : "the group", lane->name);
    else
        snprintf(text, sizeof text, "a list of 1 to %d integers >= 1, the ranks of a line of each level",
                 levels_max);
    return fields_refuse(choice, "dimensions", text, error);
}

/// Reads the dimensions. Where there are none, the grid is made for the ranks of each group.
static bool choose_dimensions(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    const json_t *list = json_object_get(choice->object, "dimensions");
    struct levels *levels = &lane->exchange.levels;
    *levels = (struct levels){.n = 2};
    if (!list) return true;
    const size_t n = json_array_size(list);
    if (n < 1 || n > levels_max) return refuse_dimensions(choice, lane, 0, error);
    levels->n = (int)n;
    for (size_t l = 0; l < n; l++) {
        const double size = json_number_value(json_array_get(list, l));
        if (!(size >= 1) || size != floor(size)) return refuse_dimensions(choice, lane, 0, error);
        levels->size[l] = size <= lane->groups.ranks ? (int)size : lane->groups.ranks + 1;
    }
    const int ranks = misfit(lane, levels);
    return !ranks || refuse_dimensions(choice, lane, ranks, error);
}

/// Reads the exchanges of the levels: one name for all, or a list.
static bool choose_parts(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    const json_t *value = json_object_get(choice->object, "parts");
    struct levels *levels = &lane->exchange.levels;
    char allowed[80];
    snprintf(allowed, sizeof allowed, "a name, or a list of %d, one for each level", levels->n);
    if (value && !json_is_string(value) && json_array_size(value) != (size_t)levels->n)
        return fields_refuse(choice, "parts", allowed, error);
    for (int l = 0; l < levels->n; l++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, (size_t)l) : value;
        const char *name = json_is_string(item) ? json_string_value(item) : "";
        if (!find_part(&levels->part[l], value ? name : "alltoallv", item, "part ", lane, error))
            return false;
    }
    return true;
}

/// Reads on which side the bridges are.
static bool choose_side(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    const char *side;
    if (!fields_string(choice, "side", "sender", &side, error)) return false;
    lane->exchange.levels.receiver = strcmp(side, "receiver") == 0;
    return lane->exchange.levels.receiver || strcmp(side, "sender") == 0 ||
           fields_refuse(choice, "side", "\"sender\" or \"receiver\"", error);
}

static bool choose_merge(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    double merge;
    if (!fields_boolean(choice, "merge", 0, &merge, error)) return false;
    lane->exchange.levels.merge = merge != 0;
    return true;
}

bool choice_levels(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                   struct error *error) {
    static const char *const names[] = {"name", "dimensions", "parts", "side", "merge", "order", "table"};
    if (lane->exchange.backend->ragged) return choose_two(lane, choice, error);
    return fields_only(choice, names, sizeof names / sizeof *names, error) &&
           choose_dimensions(lane, choice, error) && choose_parts(lane, choice, error) &&
           choose_side(lane, choice, error) && choose_merge(lane, choice, error) &&
           choice_order(lane, choice, files, error) && choice_table(lane, choice, files, error);
}
