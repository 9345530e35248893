#include "schedule/schedule.h"

#include "schedule/choice.h"
#include <stdio.h>
#include <stdlib.h>

/// Returns the names of the placements that heed weights of ranks.
static struct name_list weighted_rules(void) {
    struct name_list list = {"", 0};
    for (int i = 0; placement_rules[i]; i++)
        if (placement_rules[i]->spread) name_list_add(&list, placement_rules[i]->name);
    return list;
}

bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error) {
    struct schedule_rule schedule;
    if (!lane_rules_read(&schedule, description, error)) return false;
    *rule = placement_find(description->placement ? description->placement : schedule.placement);
    if (!*rule)
        return description_refuse_name(description, "placement", registry_names(placement_rules).text, error);
    if ((*rule)->deal_file && !description->placement_file)
        return description_refuse_name(description, "placement",
                                       "{\"name\": \"from_file\", \"file\": FILE.json}", error);
    if (!(*rule)->deal_file && description->placement_file)
        return error_set(error, "placement.file: \"%.200s\"; allowed: with placement from_file only",
                         description->placement_file);
    if (description->placement_weights && !(*rule)->spread)
        return error_set(error, "placement.weights: with placement \"%s\"; allowed: with %s", (*rule)->name,
                         weighted_rules().text);
    if (!description->placement)
        json_object_set_new(description->json.object, "placement", json_string((*rule)->name));
    return true;
}

/// Says whether a lane may carry synapses from one area to another.
static bool carries(const struct schedule *schedule, int l, uint32_t source_area, uint32_t target_area) {
    const struct lane_plan *lane = &schedule->lanes[l];
    if (lane->group == group_area) return source_area == target_area;
    if (lane->group == group_world) return lane_areas_carry(&lane->areas, source_area, target_area);
    return grouping_joins(&lane->groups, schedule->areas[source_area], schedule->areas[target_area]);
}

int schedule_lane(const struct schedule *schedule, uint32_t source_area, uint32_t target_area) {
    for (int lane = 0; lane < schedule->n_lanes; lane++)
        if (carries(schedule, lane, source_area, target_area)) return lane;
    return -1;
}

int schedule_projection_lane(const struct schedule *schedule, const struct network *network,
                             const struct projection *projection) {
    int lane = schedule->n_lanes - 1;
    for (uint32_t i = 0; i < projection->n_sources; i++) {
        int other = schedule_lane(schedule, network->populations[projection->sources[i]].area,
                                  network->populations[projection->target].area);
        if (i > 0 && other != lane) return -1;
        lane = other;
    }
    return lane;
}

static bool refuse_gap(const struct network *network, uint32_t projection, const struct population *source,
                       struct error *error) {
    const struct population *target = &network->populations[network->projections[projection].target];
    return error_set(error,
                     "schedule: no lane for network.projections.%u, from area \"%.60s\" to area \"%.60s\"; "
                     "allowed: lanes that carry all synapses, as a last one with group \"world\" does",
                     projection, source->area_name, target->area_name);
}

/// Finds the shortest delay and the number of synapses that each lane carries.
static bool survey(struct schedule *schedule, const struct network *network, struct error *error) {
    double synapses[schedule_lanes_max] = {0};
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const struct population *target = &network->populations[p->target];
        if (p->indegree.most == 0 || target->size == 0) continue;
        for (uint32_t k = 0; k < p->n_sources; k++) {
            const struct population *source = &network->populations[p->sources[k]];
            int l = schedule_lane(schedule, source->area, target->area);
            if (l < 0) return refuse_gap(network, i, source, error);
            struct lane_plan *lane = &schedule->lanes[l];
            if (lane->shortest_delay == 0 || p->delay.shortest < lane->shortest_delay)
                lane->shortest_delay = p->delay.shortest;
            synapses[l] += (double)source->size / p->pool * p->indegree.mean * target->size;
        }
    }
    for (int l = 0; l < schedule->n_lanes; l++)
        schedule->lanes[l].n_synapses = (uint64_t)nearbyint(synapses[l]);
    return true;
}

/// Says whether the window of a lane follows D.
static bool uses_delay_ratio(const struct schedule *schedule, int lane) {
    return schedule->rule.lanes[lane].period == period_delay_ratio;
}

bool schedule_uses_delay_ratio(const struct schedule *schedule) {
    for (int l = 0; l < schedule->n_lanes; l++)
        if (uses_delay_ratio(schedule, l)) return true;
    return false;
}

/// Returns the largest D, a multiple of L + 1, that is exact in all lanes that use it; 0 if there is none.
static uint32_t largest_delay_ratio(const struct schedule *schedule, const struct description *d) {
    uint32_t ratio = UINT32_MAX;
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        if (!uses_delay_ratio(schedule, l)) continue;
        uint32_t most = lane->shortest_delay ? lane->shortest_delay / d->steps_per_cycle : d->cycles;
        if (most > delay_ratio_most) most = delay_ratio_most;
        most -= most % (lane->lag + 1);
        ratio = most < ratio ? most : ratio;
    }
    return ratio == UINT32_MAX ? 1 : ratio;
}

/// Resolves "auto", in the description as well.
static bool set_delay_ratio(const struct schedule *schedule, struct description *d, struct error *error) {
    if (d->delay_ratio > 0) return true;
    d->delay_ratio = largest_delay_ratio(schedule, d);
    if (d->delay_ratio == 0)
        return error_set(error,
                         "delay_ratio: \"auto\"; allowed: a schedule with shorter windows, since no D is "
                         "exact: a lane has delays of less than lag + 1 cycles (see --explain with D = 1)");
    json_object_set_new(d->json.object, "delay_ratio", json_integer(d->delay_ratio));
    return true;
}

static bool set_period(struct lane_plan *lane, const struct lane_rule *rule, const struct description *d,
                       struct error *error) {
    const uint32_t windows = lane->lag + 1;
    if (rule->period > 0) {
        lane->period = (uint32_t)rule->period;
    } else if (rule->period == period_delay_ratio) {
        if (d->delay_ratio % windows != 0)
            return error_set(error,
                             "delay_ratio: %u; allowed: a multiple of %u, since lane %s has lag %u: its "
                             "window lasts D / %u cycles",
                             d->delay_ratio, windows, lane->name, lane->lag, windows);
        lane->period = d->delay_ratio / windows;
    } else {
        uint32_t most =
            lane->shortest_delay ? lane->shortest_delay / d->steps_per_cycle / windows : d->cycles;
        lane->period = most > 0 ? most : 1;
    }
    return true;
}

/// Checks that a lane is exact, which is what makes the spikes independent of the schedule.
static bool check_exact(const struct schedule *schedule, int l, const struct description *d,
                        struct error *error) {
    const struct lane_plan *lane = &schedule->lanes[l];
    uint64_t d_min = d->steps_per_cycle, window = (uint64_t)lane->period * (lane->lag + 1) * d_min;
    double h = d->given.resolution_ms;
    char field[40] = "delay_ratio";
    if (lane->shortest_delay == 0 || lane->shortest_delay >= window) return true;
    if (lane->shortest_delay < d_min)
        return error_set(error, "time.cycle_ms: %.10g; allowed: at most %.10g, the shortest delay in lane %s",
                         d->given.cycle_ms, lane->shortest_delay * h, lane->name);
    uint32_t value = d->delay_ratio, most = (uint32_t)(lane->shortest_delay / d_min);
    if (!uses_delay_ratio(schedule, l)) {
        value = lane->period;
        most /= lane->lag + 1;
        snprintf(field, sizeof field, "schedule.%d.period", l);
    }
    if (most == 0)
        return error_set(
            error, "schedule.%d.lag: %u; allowed: at most %u, since lane %s has delays from %.10g ms", l,
            lane->lag, (uint32_t)(lane->shortest_delay / d_min) - 1, lane->name, lane->shortest_delay * h);
    return error_set(error,
                     "%s: %u; allowed: at most %u, since lane %s has delays from %.10g ms and its window%s "
                     "would last %.10g ms",
                     field, value, most, lane->name, lane->shortest_delay * h,
                     lane->lag ? " with its lag" : "", (double)window * h);
}

/// Finds the areas and the groups of ranks of a lane.
static bool group_ranks(struct schedule *schedule, int l, const struct placement *placement,
                        const struct description *d, struct error *error) {
    const int ranks = placement->ranks;
    struct lane_plan *lane = &schedule->lanes[l];
    struct fields fields;
    if (schedule->rule.lanes[l].bound) {
        if (!fields_item(&d->json, "schedule", (size_t)l, &fields, error) ||
            !lane_areas_read(&lane->areas, &fields, &d->network, error))
            return false;
        grouping_members(&lane->groups, placement, &lane->areas);
        return true;
    }
    if (lane->group == group_square) lane->group = grouping_square(ranks);
    if (lane->group > 0 && ranks % lane->group != 0)
        return error_set(error, "schedule.%d.group: %d; allowed: a divisor of the %d ranks", l, lane->group,
                         ranks);
    if (lane->group == group_area)
        grouping_areas(&lane->groups, placement);
    else
        grouping_blocks(&lane->groups, ranks, lane->group == group_world ? ranks : lane->group);
    return true;
}

bool schedule_plan(struct schedule *schedule, struct description *d, const struct placement *placement,
                   struct error *error) {
    *schedule = (struct schedule){.n_areas = d->network.n_areas};
    if (!lane_rules_read(&schedule->rule, d, error) || !choice_check_lanes(d, &schedule->rule, error))
        return false;
    schedule->areas = grouping_area_spans(placement);
    for (int l = 0; l < schedule->rule.n_lanes; l++) {
        const struct lane_rule *rule = &schedule->rule.lanes[l];
        const uint32_t lag = rule->lag == lag_given ? (uint32_t)d->given.lag : (uint32_t)rule->lag;
        schedule->lanes[l] = (struct lane_plan){.name = rule->name, .group = rule->group, .lag = lag};
        schedule->n_lanes++;
        if (!group_ranks(schedule, l, placement, d, error)) return false;
    }
    if (!survey(schedule, &d->network, error) || !set_delay_ratio(schedule, d, error)) return false;
    for (int l = 0; l < schedule->n_lanes; l++)
        if (!set_period(&schedule->lanes[l], &schedule->rule.lanes[l], d, error) ||
            !check_exact(schedule, l, d, error) || !choice_make(&schedule->lanes[l], d, error))
            return false;
    choice_fill_in(d, schedule);
    return true;
}

void schedule_close(struct schedule *schedule) {
    for (int l = 0; l < schedule->n_lanes; l++) {
        lane_areas_close(&schedule->lanes[l].areas);
        grouping_close(&schedule->lanes[l].groups);
        levels_close(&schedule->lanes[l].exchange.levels);
    }
    free(schedule->areas);
}
