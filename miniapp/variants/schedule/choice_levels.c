#include "schedule/choice_levels.h"

#include "base/alloc.h"
#include "transport/grid.h"
#include <stdio.h>
#include <stdlib.h>

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
    return error_set(error, "exchange: %s%s for lane %s on %d rank(s)%s%s; expected %s", role,
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

static bool choose_part(const struct exchange_backend **part, const struct fields *choice, const char *role,
                        const struct lane_plan *lane, struct error *error) {
    const char *name;
    char spoken[16];
    snprintf(spoken, sizeof spoken, "%s ", role);
    return fields_string(choice, role, "alltoallv", &name, error) &&
           find_part(part, name, json_object_get(choice->object, role), spoken, lane, error);
}

static bool choose_two(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    struct levels *levels = &lane->exchange.levels;
    const double fallback = nearbyint(sqrt(lane->groups.largest));
    double group;
    *levels = (struct levels){.n = 2, .ragged = true};
    if (!FIELDS_ONLY(choice, error, "name", "inner", "outer", "group") ||
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

/// Returns the content of the file that a field names, after a look at its kind. NULL where there is none,
/// and where there is an error.
static const json_t *file_of(const struct fields *choice, const char *field, const char *kind,
                             const json_t *files, struct error *error) {
    const json_t *value = json_object_get(choice->object, field), *file = NULL;
    if (!value) return NULL;
    if (json_is_string(value)) file = json_object_get(files, json_string_value(value));
    const char *given = json_string_value(json_object_get(file, "kind"));
    const json_int_t version = json_integer_value(json_object_get(file, "format_version"));
    if (!file)
        fields_refuse(choice, field, "the name of a JSON file", error);
    else if (!given || strcmp(given, kind) != 0)
        error_set(error, "%s%s: kind: \"%.40s\"; expected \"%s\"", choice->path, field, given ? given : "",
                  kind);
    else if (version != 1)
        error_set(error, "%s%s: format_version: %lld; expected 1", choice->path, field, (long long)version);
    return error_stands(error) ? NULL : file;
}

/// Returns a number of ranks, other than `ranks`, that some group of the lane has that is not a rank alone;
/// 0 if there is none.
static int other_ranks(const struct lane_plan *lane, size_t ranks) {
    const struct grouping *groups = &lane->groups;
    for (int rank = 0; rank < groups->ranks; rank++)
        if (groups->size[rank] > 1 && (size_t)groups->size[rank] != ranks) return groups->size[rank];
    return 0;
}

/// Returns a number as text, or says that it is none.
static const char *shown(const json_t *item, char text[30]) {
    snprintf(text, 30, "what is no integer");
    if (json_is_integer(item)) snprintf(text, 30, "%lld", (long long)json_integer_value(item));
    return text;
}

static bool refuse_place(const struct fields *choice, int rank, const json_t *item, const char *wrong, int n,
                         struct error *error) {
    char text[30];
    return error_set(error,
                     "%sorder: order.%d: %s%s; expected every integer from 0 to %d once, the position of "
                     "each rank in the grid",
                     choice->path, rank, shown(item, text), wrong, n - 1);
}

/// Fills in position[2][n].
static bool read_order(const json_t *list, int n, int *position, const struct fields *choice,
                       struct error *error) {
    for (int i = 0; i < n; i++) position[n + i] = -1;
    for (int rank = 0; rank < n; rank++) {
        const json_t *item = json_array_get(list, (size_t)rank);
        const json_int_t value = json_is_integer(item) ? json_integer_value(item) : -1;
        if (value < 0 || value >= n) return refuse_place(choice, rank, item, "", n, error);
        if (position[n + value] >= 0)
            return refuse_place(choice, rank, item, ", which an earlier rank has", n, error);
        position[rank] = (int)value;
        position[n + value] = rank;
    }
    return true;
}

/// Reads the order of ranks, if there is one.
static bool choice_order(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                         struct error *error) {
    const json_t *file = file_of(choice, "order", "rank_order", files, error);
    const json_t *list = json_object_get(file, "order");
    if (error_stands(error)) return false;
    if (!file || lane->groups.largest == 1) return true;
    const size_t n = json_array_size(list);
    const int ranks = other_ranks(lane, n);
    if (ranks)
        return error_set(error,
                         "%sorder: order: %zu positions; expected %d, as many as a group of lane %s has",
                         choice->path, n, ranks, lane->name);
    int *position = ALLOC(int, 2 * n);
    lane->exchange.levels.position = position;
    lane->order_file = json_string_value(json_object_get(choice->object, "order"));
    return read_order(list, (int)n, position, choice, error);
}

/// Fills in bridge[groups][n], by positions.
static bool read_bridges(const json_t *rows, const struct levels *levels, int n, int *bridge,
                         const struct fields *choice, struct error *error) {
    const struct grid grid = grid_of(levels, n, 0);
    for (int group = 0; group < levels->size[1]; group++) {
        const json_t *row = json_array_get(rows, (size_t)group);
        if (json_array_size(row) != (size_t)n)
            return error_set(error, "%stable: bridge.%d: %zu members; expected %d, one for each rank",
                             choice->path, group, json_array_size(row), n);
        for (int rank = 0; rank < n; rank++) {
            const json_t *item = json_array_get(row, (size_t)rank);
            const json_int_t member = json_is_integer(item) ? json_integer_value(item) : -1;
            char text[30];
            if (member < 0 || member >= levels->size[0])
                return error_set(error,
                                 "%stable: bridge.%d.%d: %s; expected an integer from 0 to %d, a member of "
                                 "the group",
                                 choice->path, group, rank, shown(item, text), levels->size[0] - 1);
            bridge[(size_t)group * (size_t)n + (size_t)grid_position(&grid, rank)] = (int)member;
        }
    }
    return true;
}

/// Reads the table of bridges, if there is one, for levels that have their dimensions.
static bool choice_table(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                         struct error *error) {
    const json_t *file = file_of(choice, "table", "forwarding_table", files, error);
    const json_t *rows = json_object_get(file, "bridge");
    if (error_stands(error)) return false;
    if (!file || lane->groups.largest == 1) return true;
    const int n = lane->groups.largest, ranks = other_ranks(lane, (size_t)n);
    const struct levels levels = levels_resolve(&lane->exchange.levels, n);
    if (ranks)
        return error_set(
            error, "%stable: for lane %s with groups of %d and of %d ranks; expected groups of one size",
            choice->path, lane->name, n, ranks);
    if (levels.n != 2)
        return error_set(error, "%stable: for %d level%s; expected two levels", choice->path, levels.n,
                         levels.n > 1 ? "s" : "");
    const json_t *sizes = json_object_get(file, "dimensions");
    if (json_array_size(sizes) != 2 || json_integer_value(json_array_get(sizes, 0)) != levels.size[0] ||
        json_integer_value(json_array_get(sizes, 1)) != levels.size[1] ||
        json_array_size(rows) != (size_t)levels.size[1])
        return error_set(error,
                         "%stable: not for this grid; expected dimensions [%d, %d], and as many lists in "
                         "bridge as groups, %d",
                         choice->path, levels.size[0], levels.size[1], levels.size[1]);
    const json_t *side = json_object_get(file, "side");
    const char *given = side ? json_string_value(side) : NULL, *own = levels.receiver ? "receiver" : "sender";
    if (side && (!given || strcmp(given, own) != 0))
        return error_set(error, "%stable: side: \"%.40s\"; expected \"%s\", as this exchange has its bridges",
                         choice->path, given ? given : "", own);
    int *bridge = ALLOC(int, (size_t)levels.size[1] * (size_t)n);
    lane->exchange.levels.bridge = bridge;
    lane->table_file = json_string_value(json_object_get(choice->object, "table"));
    return read_bridges(rows, &levels, n, bridge, choice, error);
}

bool choice_levels(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                   struct error *error) {
    struct given {
        double merge;
    } given;
    static const struct field table[] = {KNOWN("name"),
                                         KNOWN("dimensions"),
                                         KNOWN("parts"),
                                         KNOWN("side"),
                                         BOOLEAN("merge", offsetof(struct given, merge), 0),
                                         KNOWN("order"),
                                         KNOWN("table")};
    if (lane->exchange.backend->ragged) return choose_two(lane, choice, error);
    if (!FIELDS_READ(choice, table, &given, error) || !choose_dimensions(lane, choice, error)) return false;
    lane->exchange.levels.merge = given.merge != 0;
    return choose_parts(lane, choice, error) && choose_side(lane, choice, error) &&
           choice_order(lane, choice, files, error) && choice_table(lane, choice, files, error);
}
