#include "assembly/schedule.h"

#include <stdio.h>
#include <string.h>

static const struct schedule_rule conventional = {
    .name = "conventional",
    .summary = "all ranks exchange in every cycle; neurons dealt round-robin",
    .placement = "round_robin",
    .lanes = {{"world", lane_all, false}},
    .n_lanes = 1,
};

static const struct schedule_rule placement_only = {
    .name = "placement_only",
    .summary = "all ranks exchange in every cycle; neurons placed by area",
    .placement = "area",
    .lanes = {{"world", lane_all, false}},
    .n_lanes = 1,
};

static const struct schedule_rule structure_aware = {
    .name = "structure_aware",
    .summary = "near: within an area in every cycle; far: between areas every D cycles",
    .placement = "area",
    .lanes = {{"near", lane_near, false}, {"far", lane_far, true}},
    .n_lanes = 2,
};

const struct schedule_rule *const schedule_rules[] = {&conventional, &placement_only, &structure_aware, NULL};

const struct schedule_rule *schedule_find(const char *name) {
    for (const struct schedule_rule *const *rule = schedule_rules; *rule; rule++)
        if (strcmp((*rule)->name, name) == 0) return *rule;
    return NULL;
}

/// Appends ", name" to a list of names.
static void add_name(char *list, size_t bytes, const char *name) {
    size_t n = strlen(list);
    snprintf(list + n, bytes - n, n ? ", %s" : "%s", name);
}

bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error) {
    char allowed[500] = "";
    const struct schedule_rule *schedule = schedule_find(description->schedule);
    if (!schedule) {
        for (int i = 0; schedule_rules[i]; i++) add_name(allowed, sizeof allowed, schedule_rules[i]->name);
        return description_refuse_name(description, "schedule", allowed, error);
    }
    *rule = placement_find(description->placement ? description->placement : schedule->placement);
    if (!*rule) {
        for (int i = 0; placement_rules[i]; i++) add_name(allowed, sizeof allowed, placement_rules[i]->name);
        return description_refuse_name(description, "placement", allowed, error);
    }
    if (!description->placement)
        json_object_set_new(description->json.object, "placement", json_string((*rule)->name));
    return true;
}

/// Finds the shortest delay and the number of synapses that the lane carries.
static void survey(struct lane_plan *lane, const struct network *network) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        bool carries_near = lane_carries(lane, true) && p->relation != relation_far;
        bool carries_far = lane_carries(lane, false) && p->relation != relation_near;
        uint64_t synapses = (uint64_t)p->indegree * network->populations[p->target].size;
        if (synapses == 0 || !(carries_near || carries_far)) continue;
        if (lane->shortest_delay == 0 || p->delay.shortest < lane->shortest_delay)
            lane->shortest_delay = p->delay.shortest;
        double near = p->pool ? (double)p->near / p->pool : 0;
        double share = (carries_near ? near : 0) + (carries_far ? 1 - near : 0);
        lane->n_synapses += (uint64_t)nearbyint(share * (double)synapses);
    }
}

/// The largest exact D that divides the measured cycles.
static uint32_t largest_delay_ratio(const struct description *description, const struct lane_plan *far) {
    uint32_t ratio = far->shortest_delay / description->steps_per_cycle;
    if (ratio < 1) ratio = 1;
    while (description->cycles % ratio != 0) ratio--;
    return ratio;
}

/// Resolves "auto".
static void set_delay_ratio(struct description *description, uint32_t ratio) {
    description->delay_ratio = ratio;
    json_object_set_new(description->json.object, "delay_ratio", json_integer(ratio));
}

/// The check that makes the spikes independent of the schedule.
static bool check_exact(const struct lane_plan *lane, bool every_d_cycles, const struct description *d,
                        struct error *error) {
    uint64_t d_min = d->steps_per_cycle, window = (uint64_t)lane->period * (lane->lag + 1) * d_min;
    double h = d->given.resolution_ms;
    if (lane->shortest_delay == 0 || lane->shortest_delay >= window) return true;
    if (lane->shortest_delay < d_min)
        return error_set(error, "time.cycle_ms: %.10g; allowed: at most %.10g, the shortest delay in lane %s",
                         d->given.cycle_ms, lane->shortest_delay * h, lane->name);
    return error_set(
        error,
        "%s: %u; allowed: at most %u, since lane %s has delays from %.10g ms and its window would "
        "last %.10g ms",
        every_d_cycles ? "delay_ratio" : "schedule", lane->period,
        (uint32_t)(lane->shortest_delay / d_min / (lane->lag + 1)), lane->name, lane->shortest_delay * h,
        (double)window * h);
}

static bool plan_lane(struct lane_plan *lane, const struct lane_rule *rule, struct description *d,
                      const struct placement *placement, struct error *error) {
    *lane = (struct lane_plan){.name = rule->name, .synapses = rule->synapses, .period = 1};
    survey(lane, &d->network);
    lane->within_rank =
        placement->ranks == 1 || (rule->synapses == lane_near && placement_keeps_areas(placement));
    if (rule->every_d_cycles) {
        if (d->delay_ratio == 0) set_delay_ratio(d, largest_delay_ratio(d, lane));
        lane->period = d->delay_ratio;
        if (d->cycles % lane->period != 0) {
            char allowed[120];
            snprintf(allowed, sizeof allowed,
                     "a divisor of the %u measured cycles (time.simulate_ms / time.cycle_ms)", d->cycles);
            return description_refuse_name(d, "delay_ratio", allowed, error);
        }
    }
    return check_exact(lane, rule->every_d_cycles, d, error);
}

/// Refuses the back-end asked for the lane, naming those that would do.
static bool refuse_exchange(const char *name, const struct lane_plan *lane, int ranks, struct error *error) {
    char allowed[500] = "";
    for (int i = 0; exchange_backends[i]; i++)
        if (exchange_backends[i]->ranks_max == 0 || exchange_backends[i]->ranks_max >= ranks)
            add_name(allowed, sizeof allowed, exchange_backends[i]->name);
    return error_set(error, "exchange: \"%.60s\" for lane %s on %d rank(s); allowed: %s",
                     name ? name : "none", lane->name, ranks, allowed);
}

static bool choose_exchange(struct lane_plan *lane, const struct description *description, int ranks,
                            struct error *error) {
    const char *name = description_exchange(description, lane->name);
    lane->backend = exchange_find(name ? name : "self");
    int span = lane->within_rank ? 1 : ranks;
    if (!lane->backend || (lane->backend->ranks_max && lane->backend->ranks_max < span))
        return refuse_exchange(name, lane, span, error);
    if (lane->within_rank) lane->backend = exchange_find("self");
    return true;
}

/// Refuses {lane: exchange} for lanes that the schedule does not have.
static bool check_lane_names(const struct description *description, const struct schedule_rule *rule,
                             struct error *error) {
    struct fields exchange;
    const char *names[schedule_lanes_max];
    if (!json_is_object(json_object_get(description->json.object, "exchange"))) return true;
    for (int i = 0; i < rule->n_lanes; i++) names[i] = rule->lanes[i].name;
    return fields_enter(&description->json, "exchange", true, &exchange, error) &&
           fields_only(&exchange, names, (size_t)rule->n_lanes, error);
}

bool schedule_plan(struct schedule *schedule, struct description *description,
                   const struct placement *placement, struct error *error) {
    schedule->rule = schedule_find(description->schedule);
    schedule->n_lanes = schedule->rule->n_lanes;
    if (!check_lane_names(description, schedule->rule, error)) return false;
    for (int i = 0; i < schedule->n_lanes; i++)
        if (!plan_lane(&schedule->lanes[i], &schedule->rule->lanes[i], description, placement, error) ||
            !choose_exchange(&schedule->lanes[i], description, placement->ranks, error))
            return false;
    if (description->delay_ratio == 0) set_delay_ratio(description, 1); // auto, and no lane that uses it
    return true;
}
