#include "schedule/choice_files.h"

#include "base/alloc.h"
#include "transport/grid.h"
#include <stdio.h>
#include <string.h>

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
        error_set(error, "%s%s: kind: \"%.40s\"; allowed: \"%s\"", choice->path, field, given ? given : "",
                  kind);
    else if (version != 1)
        error_set(error, "%s%s: format_version: %lld; allowed: 1", choice->path, field, (long long)version);
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
                     "%sorder: order.%d: %s%s; allowed: every integer from 0 to %d once, the position of "
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

bool choice_order(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                  struct error *error) {
    const json_t *file = file_of(choice, "order", "rank_order", files, error);
    const json_t *list = json_object_get(file, "order");
    if (error_stands(error)) return false;
    if (!file || lane->groups.largest == 1) return true;
    const size_t n = json_array_size(list);
    const int ranks = other_ranks(lane, n);
    if (ranks)
        return error_set(error,
                         "%sorder: order: %zu positions; allowed: %d, as many as a group of lane %s has",
                         choice->path, n, ranks, lane->name);
    int *position = ALLOC(int, 2 * n);
    lane->exchange.levels.position = position;
    lane->order_file = json_string_value(json_object_get(choice->object, "order"));
    return read_order(list, (int)n, position, choice, error);
}

/// Says whether a list holds the two dimensions.
static bool same_dimensions(const json_t *list, const struct levels *levels) {
    return json_array_size(list) == 2 && json_integer_value(json_array_get(list, 0)) == levels->size[0] &&
           json_integer_value(json_array_get(list, 1)) == levels->size[1];
}

/// Fills in bridge[groups][n], by positions.
static bool read_bridges(const json_t *rows, const struct levels *levels, int n, int *bridge,
                         const struct fields *choice, struct error *error) {
    const struct grid grid = grid_of(levels, n, 0);
    for (int group = 0; group < levels->size[1]; group++) {
        const json_t *row = json_array_get(rows, (size_t)group);
        if (json_array_size(row) != (size_t)n)
            return error_set(error, "%stable: bridge.%d: %zu members; allowed: %d, one for each rank",
                             choice->path, group, json_array_size(row), n);
        for (int rank = 0; rank < n; rank++) {
            const json_t *item = json_array_get(row, (size_t)rank);
            const json_int_t member = json_is_integer(item) ? json_integer_value(item) : -1;
            char text[30];
            if (member < 0 || member >= levels->size[0])
                return error_set(error,
                                 "%stable: bridge.%d.%d: %s; allowed: an integer from 0 to %d, a member of "
                                 "the group",
                                 choice->path, group, rank, shown(item, text), levels->size[0] - 1);
            bridge[(size_t)group * (size_t)n + (size_t)grid_position(&grid, rank)] = (int)member;
        }
    }
    return true;
}

bool choice_table(struct lane_plan *lane, const struct fields *choice, const json_t *files,
                  struct error *error) {
    const json_t *file = file_of(choice, "table", "forwarding_table", files, error);
    const json_t *rows = json_object_get(file, "bridge");
    if (error_stands(error)) return false;
    if (!file || lane->groups.largest == 1) return true;
    const int n = lane->groups.largest, ranks = other_ranks(lane, (size_t)n);
    const struct levels levels = levels_resolve(&lane->exchange.levels, n);
    if (ranks)
        return error_set(
            error, "%stable: for lane %s with groups of %d and of %d ranks; allowed: groups of one size",
            choice->path, lane->name, n, ranks);
    if (levels.n != 2)
        return error_set(error, "%stable: for %d level%s; allowed: two levels", choice->path, levels.n,
                         levels.n > 1 ? "s" : "");
    if (!same_dimensions(json_object_get(file, "dimensions"), &levels) ||
        json_array_size(rows) != (size_t)levels.size[1])
        return error_set(error,
                         "%stable: not for this grid; allowed: dimensions [%d, %d], and as many lists in "
                         "bridge as groups, %d",
                         choice->path, levels.size[0], levels.size[1], levels.size[1]);
    const json_t *side = json_object_get(file, "side");
    const char *given = side ? json_string_value(side) : NULL, *own = levels.receiver ? "receiver" : "sender";
    if (side && (!given || strcmp(given, own) != 0))
        return error_set(error, "%stable: side: \"%.40s\"; allowed: \"%s\", as this exchange has its bridges",
                         choice->path, given ? given : "", own);
    int *bridge = ALLOC(int, (size_t)levels.size[1] * (size_t)n);
    lane->exchange.levels.bridge = bridge;
    lane->table_file = json_string_value(json_object_get(choice->object, "table"));
    return read_bridges(rows, &levels, n, bridge, choice, error);
}
