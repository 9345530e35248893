/// \file
/// Reads of what a lane's composed exchange is composed, as the description has it: parts, dimensions, the
/// order of ranks, bridges.
///
/// choice_levels() is the entry. `two_level` has an inner and an outer exchange and the size of a group;
/// `multi_level` has dimensions, an exchange for each, a side, and may name two files: the order of ranks in
/// the grid, and the table of bridges. Rank 0 has read these files and all ranks have their content. What
/// does not fit the groups of ranks of the lane is refused. Time: the size of the files, and a pass over the
/// ranks. Memory: two numbers for each rank where an order is given, and one for each group and rank where
/// bridges are (levels_bytes()).

#include "schedule/choice_levels.h"

#include "base/alloc.h"
#include "description/field_table.h"
#include "schedule/choice.h"
#include "transport/grid.h"
#include <stdio.h>

/// Finds a part by its name. `value` is what stands for it in the description.
static bool find_part(const struct exchange_backend **part, const char *name, const json_t *value,
                      const char *role, const struct lane_plan *lane, struct error *error) {
    // Of the communicators of the parts: two stands for several, since no back-end serves two but not three.
    const int ranks = lane->groups.largest > 1 ? 2 : 1;
    // Broadcasts and composed exchanges are no parts: words would not know where they go next.
    *part = exchange_find(name);
    if (*part && choice_serves(*part, ranks, true)) return true;
    return choice_refuse(value, NULL, role, lane, ranks, error);
}

/// The fields of a composed exchange that need no interpretation.
struct given_levels {
    const char *name, *inner, *outer, *side;
    double merge;
};

#define AT(member) offsetof(struct given_levels, member)
// clang-format off
static const struct field of_two_level[] = {
    TEXT("name",     AT(name)),
    WORD("inner",    AT(inner), "alltoallv", NULL),
    WORD("outer",    AT(outer), "alltoallv", NULL),
    INTEGER("group", FIELD_APART, ABSENT, 1, 1e6)},
of_multi_level[] = {
    TEXT("name",     AT(name)),
    {"dimensions", type_list,             FIELD_APART, ABSENT, 1, 1e6, NULL, NULL, type_integer},
    {"parts",      type_text | type_list, FIELD_APART, ABSENT, 0, 0, NULL, NULL, type_text},
    WORD("side",     AT(side), "sender", "sender, receiver"),
    BOOLEAN("merge", AT(merge), 0),
    {"order",      type_text,             FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0},
    {"table",      type_text,             FIELD_APART, ABSENT, 0, 0, NULL, NULL, 0}};
// clang-format on
const struct field_table table_of_two_level = FIELD_TABLE("exchange.two_level.", of_two_level),
                         table_of_multi_level = FIELD_TABLE("exchange.multi_level.", of_multi_level);

/// Reads the exchange of the inner or the outer level, by its role.
static bool choose_part(const struct exchange_backend **part, const struct fields *choice, const char *role,
                        const struct lane_plan *lane, struct error *error) {
    char spoken[16];
    const json_t *value = json_object_get(choice->object, role);
    snprintf(spoken, sizeof spoken, "%s ", role);
    return find_part(part, json_string_value(value), value, spoken, lane, error);
}

/// Reads the fields of `two_level`.
static bool choose_two(struct lane_plan *lane, const struct fields *choice, struct error *error) {
    struct levels *levels = &lane->exchange.levels;
    const int fallback = (int)nearbyint(sqrt(lane->groups.largest));
    struct given_levels given;
    *levels = (struct levels){.n = 2, .ragged = true};
    if (!fields_read(choice, &table_of_two_level, &given, error) ||
        !choose_part(&levels->part[0], choice, "inner", lane, error) ||
        !choose_part(&levels->part[1], choice, "outer", lane, error))
        return false;
    // The fallback is not filled in: lanes of other sizes may share the object. The size of a group of the
    // table is an int, since the field is limited to 1e6.
    const json_t *group = json_object_get(choice->object, "group");
    levels->size[0] = group ? (int)json_integer_value(group) : fallback;
    if (levels->size[0] <= lane->groups.largest) return true;
    char allowed[80];
    snprintf(allowed, sizeof allowed, "an integer from 1 to %d, the ranks of the lane", lane->groups.largest);
    return fields_refuse(choice, "group", allowed, error);
}

/// Returns a number of ranks that the dimensions do not multiply to although a group of the lane has it; 0 if
/// there is none. Ranks that are alone exchange with nobody, unless there is only one at all.
static int misfit(const struct lane_plan *lane, const struct levels *levels) {
    const struct grouping *groups = &lane->groups;
    for (int rank = 0; rank < groups->ranks; rank++)
        if ((groups->size[rank] > 1 || groups->ranks == 1) && groups->size[rank] != grid_size(levels))
            return groups->size[rank];
    return 0;
}

/// Refuses the dimensions, and says which would do. \param ranks 0: their number is wrong.
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
        const json_int_t size = json_integer_value(json_array_get(list, l));
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

/// Refuses the position of a rank in an order.
static bool refuse_place(const struct fields *choice, int rank, const json_t *item, const char *wrong, int n,
                         struct error *error) {
    char text[30];
    return error_set(error,
                     "%sorder: order.%d: %s%s; expected every integer from 0 to %d once, the position of "
                     "each rank in the grid",
                     choice->path, rank, shown(item, text), wrong, n - 1);
}

/// Fills in position[2][n]: the position of each rank, and the rank at each position. Fails unless the list
/// has every position once.
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

/// Fills in bridge[groups][n], by positions: the member of a group that speaks to a position elsewhere. A
/// file has it by ranks, since whoever computes it need not know the order of the grid. Cost: groups x ranks.
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
    struct given_levels given;
    if (lane->exchange.backend->ragged) return choose_two(lane, choice, error);
    if (!fields_read(choice, &table_of_multi_level, &given, error) || !choose_dimensions(lane, choice, error))
        return false;
    lane->exchange.levels.merge = given.merge != 0;
    lane->exchange.levels.receiver = strcmp(given.side, "receiver") == 0;
    return choose_parts(lane, choice, error) && choice_order(lane, choice, files, error) &&
           choice_table(lane, choice, files, error);
}
