/// \file
/// Plans the lanes of a run: which ranks each connects, how long its windows are, and whether they are
/// exact.
///
/// schedule_plan() goes through these steps:
///
/// 1. Read the schedule by name or as a list of lanes (rules.c).
/// 2. For each lane, find which ranks exchange with each other (group_ranks()): all of them, those that
///    share an area, blocks of ranks, or those that hold given areas.
/// 3. Go through all projections and areas: which lane carries their synapses, and how short is the shortest
///    delay in each lane (survey())?
/// 4. Choose D where it is "auto" (set_delay_ratio()), and the period of each lane (set_period()).
/// 5. Refuse a lane that is not exact (check_exact()): P (L + 1) d_min may not exceed its shortest delay.
/// 6. Choose exchange and wire format of each lane (choice.c).
///
/// All ranks plan alike, without communication. Cost: projections x areas; memory: three numbers for each
/// rank and lane.

#include "schedule/schedule.h"

#include "base/alloc.h"
#include "base/registry.h"
#include "schedule/choice.h"
#include "schedule/lane_areas.h"
#include <stdio.h>
#include <stdlib.h>

/// Returns the names of the placements that read a file, or of those that take weights of ranks.
static struct name_list placements_with(bool file) {
    struct name_list names = {.length = 0};
    for (int i = 0; placement_rules[i]; i++) {
        const struct placement_rule *rule = placement_rules[i];
        if (file ? rule->read_file != NULL : rule->spread != spread_never) name_list_add(&names, rule->name);
    }
    return names.length > 0 ? names : (struct name_list){.text = "none"};
}

bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error) {
    struct schedule_rule schedule;
    if (!lane_rules_read(&schedule, description, error)) return false;
    *rule = placement_find(description->placement ? description->placement : schedule.placement);
    if (!*rule)
        return fields_refuse(&description->json, "placement", registry_names(placement_rules).text, error);
    if ((*rule)->read_file && !description->placement_file) {
        char expected[100];
        snprintf(expected, sizeof expected, "{\"name\": \"%s\", \"file\": FILE.json}", (*rule)->name);
        return fields_refuse(&description->json, "placement", expected, error);
    }
    if (!(*rule)->read_file && description->placement_file)
        return error_set(error, "placement.file: \"%.200s\", with placement \"%s\"; expected with: %s",
                         description->placement_file, (*rule)->name, placements_with(true).text);
    if (description->placement_weights && (*rule)->spread == spread_never)
        return error_set(error, "placement.weights: with placement \"%s\"; expected with: %s", (*rule)->name,
                         placements_with(false).text);
    if (!description->placement)
        json_object_set_new(description->json.object, "placement", json_string((*rule)->name));
    return true;
}

/// Says whether a lane may carry synapses from one area to another.
static bool carries(const struct schedule *schedule, int l, uint32_t source_area, uint32_t target_area) {
    const struct lane_plan *lane = &schedule->lanes[l];
    // A lane within areas carries what stays in one, wherever the ranks are.
    if (lane->group == group_area) return source_area == target_area;
    if (lane->group == group_world)
        return (!lane->areas.from || lane->areas.from[source_area]) &&
               (!lane->areas.to || lane->areas.to[target_area]);
    // The ranks of both areas lie in one of the groups, all of which hold consecutive ranks.
    const struct span from = schedule->areas[source_area], to = schedule->areas[target_area];
    const int *first = lane->groups.first, group = first[from.first];
    return first[from.last] == group && first[to.first] == group && first[to.last] == group;
}

int schedule_lane(const struct schedule *schedule, uint32_t source_area, uint32_t target_area) {
    for (int lane = 0; lane < schedule->n_lanes; lane++)
        if (carries(schedule, lane, source_area, target_area)) return lane;
    return -1;
}

int schedule_projection_lane(const struct schedule *schedule, const struct network *network,
                             const struct projection *projection) {
    // Without any source it does not matter which lane it is.
    int lane = schedule->n_lanes - 1;
    for (uint32_t i = 0; i < projection->n_sources; i++) {
        int other = schedule_lane(schedule, network->populations[projection->sources[i]].area,
                                  network->populations[projection->target].area);
        if (i > 0 && other != lane) return -1;
        lane = other;
    }
    return lane;
}

int lane_levels_most(const struct schedule *schedule) {
    int most = 0;
    for (int l = 0; l < schedule->n_lanes; l++)
        if (schedule->lanes[l].exchange.levels.n > most) most = schedule->lanes[l].exchange.levels.n;
    return most;
}

/// Finds the shortest delay and the number of synapses that each lane carries.
static bool survey(struct schedule *schedule, const struct network *network, struct error *error) {
    double synapses[schedule_lanes_max] = {0};
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const struct population *target = &network->populations[p->target];
        // Projections without synapses restrict no lane.
        if (p->indegree.most == 0 || target->size == 0) continue;
        for (uint32_t k = 0; k < p->n_sources; k++) {
            const struct population *source = &network->populations[p->sources[k]];
            int l = schedule_lane(schedule, source->area, target->area);
            if (l < 0)
                return error_set(
                    error,
                    "schedule: no lane for network.projections.%u, from area \"%.60s\" to area \"%.60s\"; "
                    "expected lanes that carry all synapses, as a last one with group \"world\" does",
                    i, source->area_name, target->area_name);
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

/// Resolves "auto", in the description as well: the largest D, a multiple of L + 1, that is exact in all
/// lanes that use it.
static bool set_delay_ratio(const struct schedule *schedule, struct description *d, struct error *error) {
    uint32_t ratio = UINT32_MAX;
    if (d->delay_ratio > 0) return true;
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        if (!uses_delay_ratio(schedule, l)) continue;
        // A lane without synapses may wait for the whole run.
        uint32_t most = lane->shortest_delay ? lane->shortest_delay / d->steps_per_cycle : d->cycles;
        if (most > delay_ratio_most) most = delay_ratio_most;
        most -= most % (lane->lag + 1);
        ratio = most < ratio ? most : ratio;
    }
    d->delay_ratio = ratio == UINT32_MAX ? 1 : ratio;
    if (d->delay_ratio == 0)
        return error_set(error,
                         "delay_ratio: \"auto\"; expected a schedule with shorter windows, since no D is "
                         "exact: a lane has delays of less than lag + 1 cycles (see --explain with D = 1)");
    json_object_set_new(d->json.object, "delay_ratio", json_integer(d->delay_ratio));
    return true;
}

/// Sets the window of a lane in cycles: a number, D / (L + 1), or the longest that is exact.
static bool set_period(struct lane_plan *lane, const struct lane_rule *rule, const struct description *d,
                       struct error *error) {
    const uint32_t windows = lane->lag + 1;
    if (rule->period > 0) {
        lane->period = (uint32_t)rule->period;
    } else if (rule->period == period_delay_ratio) {
        if (d->delay_ratio % windows != 0)
            return error_set(error,
                             "delay_ratio: %u; expected a multiple of %u, since lane %s has lag %u: its "
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
    // Even one cycle is too long, so what is wrong is the cycle.
    if (lane->shortest_delay < d_min)
        return error_set(error, "time.cycle_ms: %.10g; expected at most %.10g, the shortest delay in lane %s",
                         d->given.cycle_ms, lane->shortest_delay * h, lane->name);
    // Otherwise the message names the field that makes the window too long.
    uint32_t value = d->delay_ratio, most = (uint32_t)(lane->shortest_delay / d_min);
    if (!uses_delay_ratio(schedule, l)) {
        value = lane->period;
        most /= lane->lag + 1;
        snprintf(field, sizeof field, "schedule.%d.period", l);
    }
    if (most == 0)
        return error_set(
            error, "schedule.%d.lag: %u; expected at most %u, since lane %s has delays from %.10g ms", l,
            lane->lag, (uint32_t)(lane->shortest_delay / d_min) - 1, lane->name, lane->shortest_delay * h);
    return error_set(error,
                     "%s: %u; expected at most %u, since lane %s has delays from %.10g ms and its window%s "
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
    // Lanes between areas.
    if (schedule->rule.lanes[l].bound) {
        if (!fields_item(&d->json, "schedule", (size_t)l, &fields, error) ||
            !lane_areas_read(&lane->areas.from, &fields, "from", &d->network, error) ||
            !lane_areas_read(&lane->areas.to, &fields, "to", &d->network, error))
            return false;
        grouping_members(&lane->groups, placement, lane->areas.from, lane->areas.to);
        return true;
    }
    // Blocks of equal size.
    if (lane->group == group_square) lane->group = grouping_square(ranks);
    if (lane->group > 0 && ranks % lane->group != 0)
        return error_set(error, "schedule.%d.group: %d; expected a divisor of the %d ranks", l, lane->group,
                         ranks);
    if (lane->group == group_area) {
        grouping_areas(&lane->groups, placement);
        return true;
    }
    // All ranks are one block of all ranks.
    const int block = lane->group == group_world ? ranks : lane->group;
    grouping_blocks(&lane->groups, ranks, block);
    return true;
}

bool schedule_plan(struct schedule *schedule, struct description *d, const struct placement *placement,
                   struct error *error) {
    *schedule = (struct schedule){.n_areas = d->network.n_areas};
    if (!lane_rules_read(&schedule->rule, d, error) || !choice_check_lanes(d, &schedule->rule, error))
        return false;
    // Step 2 of the head: groups of ranks.
    schedule->areas = grouping_area_spans(placement);
    for (int l = 0; l < schedule->rule.n_lanes; l++) {
        const struct lane_rule *rule = &schedule->rule.lanes[l];
        const uint32_t lag = rule->lag == lag_given ? (uint32_t)d->given.lag : (uint32_t)rule->lag;
        schedule->lanes[l] = (struct lane_plan){.name = rule->name, .group = rule->group, .lag = lag};
        schedule->n_lanes++;
        if (!group_ranks(schedule, l, placement, d, error)) return false;
    }
    // Steps 3 and 4: what the lanes carry, and D.
    if (!survey(schedule, &d->network, error) || !set_delay_ratio(schedule, d, error)) return false;
    for (int l = 0; l < schedule->n_lanes; l++)
        if (!set_period(&schedule->lanes[l], &schedule->rule.lanes[l], d, error) ||
            !check_exact(schedule, l, d, error) || !choice_make(&schedule->lanes[l], d, error))
            return false;
    // The description that goes into the record says what was chosen.
    choice_fill_in(d, schedule);
    return true;
}

void schedule_close(struct schedule *schedule) {
    for (int l = 0; l < schedule->n_lanes; l++) {
        struct lane_plan *lane = &schedule->lanes[l];
        FREE(lane->areas.from, lane->areas.to);
        grouping_close(&lane->groups);
        levels_close(&lane->exchange.levels);
    }
    free(schedule->areas);
}
