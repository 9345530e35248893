#include "schedule/lane_json.h"

#include "base/json_number.h"
#include "schedule/lane_levels.h"
#include <math.h>

double lane_slack_ms(const struct lane_plan *lane, const struct description *description) {
    const double h = description->given.resolution_ms;
    const double window = (double)lane->period * (lane->lag + 1) * description->steps_per_cycle * h;
    return lane->shortest_delay ? nearbyint((lane->shortest_delay * h - window) * 1e9) / 1e9 : NAN;
}

bool lane_blocks(const struct lane_plan *lane) {
    return lane->lag > 0 && lane->groups.largest > 1 && !lane->exchange.backend->start;
}

json_t *lane_json(const struct lane_plan *lane, const struct description *description) {
    const double shortest_ms =
        lane->shortest_delay ? lane->shortest_delay * description->given.resolution_ms : NAN;
    return json_pack("{ss sI sI ss so ss si si so so}", "name", lane->name, "period",
                     (json_int_t)lane->period, "lag", (json_int_t)lane->lag, "exchange",
                     lane->exchange.backend->name, "composed", lane_levels_json(lane), "wire",
                     lane->wire->name, "ranks", lane->groups.largest, "groups", lane->groups.groups, "slack",
                     known(lane_slack_ms(lane, description)), "shortest_delay_ms", known(shortest_ms));
}
