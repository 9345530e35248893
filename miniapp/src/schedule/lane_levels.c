#include "schedule/lane_levels.h"

#include "transport/grid.h"

struct lane_connections lane_connections(const struct lane_plan *lane, int level) {
    const struct grouping *groups = &lane->groups;
    struct lane_connections found = {0, 0, 0};
    int ranks = 0;
    for (int rank = 0; rank < groups->ranks; rank++) {
        if (groups->size[rank] == 1) continue;
        const struct grid grid = grid_of(&lane->exchange.levels, groups->size[rank], groups->place[rank]);
        const int n = grid_connections(&grid, level);
        found.most = n > found.most ? n : found.most;
        found.all += n;
        ranks++;
    }
    found.mean = ranks ? found.all / ranks : 0;
    return found;
}

int lane_levels_most(const struct schedule *schedule) {
    int most = 0;
    for (int l = 0; l < schedule->n_lanes; l++)
        if (schedule->lanes[l].exchange.levels.n > most) most = schedule->lanes[l].exchange.levels.n;
    return most;
}

json_t *lane_levels_json(const struct lane_plan *lane) {
    const struct levels *asked = &lane->exchange.levels;
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
