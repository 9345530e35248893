#include "schedule/schedule.h"

#include "base/alloc.h"
#include "schedule/choice_levels.h"
#include <stdio.h>
#include <stdlib.h>

// -------------------- lane_json

/// Returns what a composed exchange is composed of as a new object, or null.
static json_t *levels_json(const struct lane_plan *lane) {
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

json_t *lane_json(const struct lane_plan *lane, const struct description *description) {
    const double h = description->given.resolution_ms,
                 delay = lane->shortest_delay ? lane->shortest_delay : NAN;
    // By how much the shortest delay exceeds what it must be, P (L + 1) d_min, rounded to 1e-9 ms.
    const double window = (double)lane->period * (lane->lag + 1) * description->steps_per_cycle * h;
    const double slack = nearbyint((delay * h - window) * 1e9) / 1e9;
    // A lag helps nothing where the exchange does all its work at the end of it.
    const bool blocks = lane->lag > 0 && lane->groups.largest > 1 && !lane->exchange.backend->start;
    return json_pack("{ss sI sI ss sb so ss si si so so}", "name", lane->name, "period",
                     (json_int_t)lane->period, "lag", (json_int_t)lane->lag, "exchange",
                     lane->exchange.backend->name, "blocks", (int)blocks, "composed", levels_json(lane),
                     "wire", lane->wire->name, "ranks", lane->groups.largest, "groups", lane->groups.groups,
                     "slack", known(slack), "shortest_delay_ms", known(delay * h));
}

int lane_levels_most(const struct schedule *schedule) {
    int most = 0;
    for (int l = 0; l < schedule->n_lanes; l++)
        if (schedule->lanes[l].exchange.levels.n > most) most = schedule->lanes[l].exchange.levels.n;
    return most;
}

void lane_sources_expect(const struct schedule *schedule, const struct network *network, const double *own,
                         double *synapses, double *log_missed) {
    for (uint32_t i = 0; i < network->n_projections; i++) {
        const struct projection *p = &network->projections[i];
        const uint32_t target_area = network->populations[p->target].area;
        const double drawn = own[p->target] * p->indegree.mean;
        for (uint32_t k = 0; drawn > 0 && k < p->n_sources; k++) {
            const struct population *source = &network->populations[p->sources[k]];
            int lane = schedule_lane(schedule, source->area, target_area);
            if (lane < 0) continue; // there are no synapses then
            const double hit = 1 / fmax(p->pool, 1.0000001);
            synapses[lane] += drawn * source->size / p->pool;
            log_missed[(size_t)lane * network->n_populations + p->sources[k]] +=
                drawn * (p->indegree.above ? -hit : log1p(-hit));
        }
    }
}

// -------------------- choice

/// Says whether `value` is an exchange, and not an object {lane: exchange}.
static bool is_choice(const json_t *value) {
    return json_is_string(value) || json_object_get(value, "name");
}

/// Returns what the description chooses for the lane in `field`, "exchange" or "wire"; NULL if nothing.
static json_t *chosen(const struct description *description, const char *field, const char *lane) {
    json_t *value = json_object_get(description->json.object, field);
    return is_choice(value) ? value : json_object_get(value, lane);
}

/// Returns the exchange of a lane for which the description has none.
static const char *fallback(const struct lane_plan *lane) {
    return lane->lag > 0 ? "ialltoallv" : "alltoallv";
}

static bool choose_exchange(struct lane_plan *lane, const struct description *description,
                            struct error *error) {
    json_t *value = chosen(description, "exchange", lane->name);
    const char *name = json_string_value(json_is_object(value) ? json_object_get(value, "name") : value);
    const int ranks = lane->groups.largest;
    if (!name) name = value ? "" : fallback(lane);
    lane->exchange = (struct exchange_spec){.backend = exchange_find(name)};
    if (!lane->exchange.backend || !choice_serves(lane->exchange.backend, ranks, false))
        return choice_refuse(value, lane->exchange.backend, "", lane, ranks, error);
    if (!json_is_object(value) && !lane->exchange.backend->composed) return true;

    struct fields choice = {.object = json_is_object(value) ? value : json_object()};
    snprintf(choice.path, sizeof choice.path, "exchange.%.60s.", lane->name);
    bool known = lane->exchange.backend->composed
                     ? choice_levels(lane, &choice, description->exchange_files, error)
                     : FIELDS_ONLY(&choice, error, "name");
    if (!json_is_object(value)) json_decref(choice.object);
    return known;
}

/// Fills in the description where it leaves the choice to us, once all lanes have been chosen for.
static void choice_fill_in(struct description *description, const struct schedule *schedule) {
    json_t *run = description->json.object, *exchange = json_object(), *wire = json_object();
    bool overlaps = false;
    for (int l = 0; l < schedule->n_lanes; l++) {
        const struct lane_plan *lane = &schedule->lanes[l];
        overlaps = overlaps || lane->lag > 0;
        json_object_set_new(exchange, lane->name, json_string(fallback(lane)));
        json_object_set_new(wire, lane->name, json_string("compact"));
    }
    if (!json_object_get(run, "wire")) json_object_set_new(run, "wire", json_string("compact"));
    if (!json_object_get(run, "exchange"))
        json_object_set(run, "exchange",
                        overlaps ? exchange : json_object_get(exchange, schedule->lanes->name));
    if (!is_choice(json_object_get(run, "wire")))
        json_object_update_missing(json_object_get(run, "wire"), wire);
    if (!is_choice(json_object_get(run, "exchange")))
        json_object_update_missing(json_object_get(run, "exchange"), exchange);
    json_decref(exchange);
    json_decref(wire);
}

/// Fills in lane->exchange and lane->wire. Where the description has no exchange at all and the lane has a
/// lag, it takes one that overlaps. Fails naming the lane and what would do.
static bool choice_make(struct lane_plan *lane, const struct description *description, struct error *error) {
    if (!choose_exchange(lane, description, error)) return false;
    if (lane->groups.largest == 1) {
        levels_close(&lane->exchange.levels);
        lane->exchange = (struct exchange_spec){.backend = exchange_find("self")};
    }
    json_t *value = chosen(description, "wire", lane->name);
    char text[80];
    lane->wire = wire_find(value ? json_is_string(value) ? json_string_value(value) : "" : "compact");
    return lane->wire || error_set(error, "wire: %s for lane %s; expected %s", choice_shown(value, text),
                                   lane->name, registry_names(wire_formats).text);
}

static bool choice_check_lanes(const struct description *description, const struct schedule_rule *rule,
                               struct error *error) {
    static const char *const fields[] = {"exchange", "wire"};
    const char *names[schedule_lanes_max];
    for (int i = 0; i < rule->n_lanes; i++) names[i] = rule->lanes[i].name;
    for (int i = 0; i < 2; i++) {
        json_t *value = json_object_get(description->json.object, fields[i]);
        struct fields object;
        if (!value || is_choice(value)) continue;
        if (!json_is_object(value))
            return fields_refuse(&description->json, fields[i], "a name, or an object {lane: name}", error);
        if (!fields_enter(&description->json, fields[i], true, &object, error) ||
            !fields_only(&object, names, (size_t)rule->n_lanes, error))
            return false;
    }
    return true;
}

// -------------------- grouping

/// Returns the number of the area of that name, or the number of areas if there is none.
static uint32_t area_find(const struct network *network, const char *name) {
    for (uint32_t p = 0; name && p < network->n_populations; p++)
        if (strcmp(network->populations[p].area_name, name) == 0) return network->populations[p].area;
    return network->n_areas;
}

static bool refuse_area(const struct fields *lane, const char *field, const json_t *name,
                        const struct network *network, struct error *error) {
    char *shown = json_dumps(name, JSON_ENCODE_ANY | JSON_COMPACT);
    struct name_list allowed = {"", 0};
    for (uint32_t p = 0, area = 0; p < network->n_populations; p++) {
        if (network->populations[p].area != area) continue; // areas are numbered by first appearance
        name_list_add(&allowed, network->populations[p].area_name);
        area++;
    }
    error_set(error, "%s%s: %.60s; expected an area of the network, or a list of them, none twice: %s",
              lane->path, field, shown ? shown : "nothing", allowed.text);
    free(shown);
    return false;
}

static bool read_areas(bool **areas, const struct fields *lane, const char *field,
                       const struct network *network, struct error *error) {
    const json_t *given = json_object_get(lane->object, field);
    const bool list = json_is_array(given);
    if (!given) return true;
    if (list && json_array_size(given) == 0) return refuse_area(lane, field, given, network, error);
    *areas = ALLOC_ZERO(bool, network->n_areas);
    for (size_t i = 0; i < (list ? json_array_size(given) : 1); i++) {
        const json_t *name = list ? json_array_get(given, i) : given;
        const uint32_t area = area_find(network, json_string_value(name));
        if (area == network->n_areas || (*areas)[area]) return refuse_area(lane, field, name, network, error);
        (*areas)[area] = true;
    }
    return true;
}

/// Finds between which ranks each area lies. \return [areas], owned by the caller. An area without neurons
/// has rank 0.
static struct span *grouping_area_spans(const struct placement *placement) {
    const struct network *network = placement->network;
    struct span *spans = ALLOC(struct span, network->n_areas);
    for (uint32_t area = 0; area < network->n_areas; area++)
        spans[area] = (struct span){placement->ranks, -1};
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        struct span *span = &spans[network->populations[deal->population].area];
        const int last = deal->first_rank + deal->ranks - 1;
        if (deal->ranks == 0) continue;
        if (deal->first_rank < span->first) span->first = deal->first_rank;
        if (last > span->last) span->last = last;
    }
    for (uint32_t area = 0; area < network->n_areas; area++)
        if (spans[area].last < 0) spans[area] = (struct span){0, 0};
    return spans;
}

/// Opens groups of single ranks.
static void open_groups(struct grouping *grouping, int ranks) {
    *grouping = (struct grouping){.ranks = ranks};
    grouping->first = ALLOC(int, (size_t)ranks);
    grouping->place = ALLOC(int, (size_t)ranks);
    grouping->size = ALLOC_ZERO(int, (size_t)ranks);
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = rank;
}

/// Numbers the ranks of the groups whose first ranks are known.
static void number_groups(struct grouping *grouping) {
    for (int rank = 0; rank < grouping->ranks; rank++) {
        const int first = grouping->first[rank];
        grouping->place[rank] = grouping->size[first]++;
        if (grouping->size[first] > grouping->largest) grouping->largest = grouping->size[first];
        grouping->groups += first == rank;
    }
    for (int rank = 0; rank < grouping->ranks; rank++)
        grouping->size[rank] = grouping->size[grouping->first[rank]];
}

/// Returns the lowest rank that is known to share a group with this one.
static int lowest(int *first, int rank) {
    while (first[rank] != rank) rank = first[rank] = first[first[rank]];
    return rank;
}

static void join(int *first, int a, int b) {
    a = lowest(first, a);
    b = lowest(first, b);
    first[a > b ? a : b] = a > b ? b : a;
}

/// Makes groups of ranks that share an area, consecutive or not. Ranks that several areas link are one group.
static void grouping_areas(struct grouping *grouping, const struct placement *placement) {
    const struct network *network = placement->network;
    const int ranks = placement->ranks;
    int *reach = ALLOC(int, (size_t)ranks);    // the last rank of any deal that begins on this one
    int *found = ALLOC(int, network->n_areas); // a rank of the area
    open_groups(grouping, ranks);
    for (uint32_t area = 0; area < network->n_areas; area++) found[area] = -1;
    for (int rank = 0; rank < ranks; rank++) reach[rank] = rank;
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        const uint32_t area = network->populations[deal->population].area;
        const int first = deal->first_rank, last = first + deal->ranks - 1;
        if (deal->ranks == 0) continue;
        if (last > reach[first]) reach[first] = last;
        if (found[area] >= 0) join(grouping->first, found[area], first);
        found[area] = first;
    }
    for (int rank = 1, last = reach[0]; rank < ranks; rank++) {
        if (rank <= last) join(grouping->first, rank - 1, rank);
        if (reach[rank] > last) last = reach[rank];
    }
    for (int rank = 0; rank < ranks; rank++) grouping->first[rank] = lowest(grouping->first, rank);
    number_groups(grouping);
    FREE(found, reach);
}

/// Makes one group of the ranks of all areas that `members` holds, consecutive or not. Every other rank is
/// alone.
static void grouping_members(struct grouping *grouping, const struct placement *placement,
                             const struct lane_areas *members) {
    const int ranks = placement->ranks;
    int *begins =
        ALLOC_ZERO(int, (size_t)ranks + 1); // deals to members that begin here, less those that ended
    open_groups(grouping, ranks);
    for (uint32_t k = 0; k < placement_deals(placement); k++) {
        const struct deal *deal = &placement->deals[k];
        const uint32_t area = placement->network->populations[deal->population].area;
        const bool member = !members->from || members->from[area] || !members->to || members->to[area];
        if (deal->ranks == 0 || !member) continue;
        begins[deal->first_rank]++;
        begins[deal->first_rank + deal->ranks]--;
    }
    int first = -1;
    for (int rank = 0, deals = 0; rank < ranks; rank++) {
        deals += begins[rank];
        if (deals == 0) continue;
        if (first < 0) first = rank;
        grouping->first[rank] = first;
    }
    number_groups(grouping);
    free(begins);
}

/// Returns the divisor of `ranks` that is closest to their square root; of two that are equally close, the
/// smaller one.
static int grouping_square(int ranks) {
    int best = 1;
    for (int block = 1; block <= ranks; block++)
        if (ranks % block == 0 && fabs(block - sqrt(ranks)) < fabs(best - sqrt(ranks))) best = block;
    return best;
}

// -------------------- schedule

bool schedule_placement(const struct description *description, const struct placement_rule **rule,
                        struct error *error) {
    struct schedule_rule schedule;
    if (!lane_rules_read(&schedule, description, error)) return false;
    *rule = placement_find(description->placement ? description->placement : schedule.placement);
    if (!*rule)
        return fields_refuse(&description->json, "placement", registry_names(placement_rules).text, error);
    if ((*rule)->deal_file && !description->placement_file)
        return fields_refuse(&description->json, "placement",
                             "{\"name\": \"from_file\", \"file\": FILE.json}", error);
    if (!(*rule)->deal_file && description->placement_file)
        return error_set(error, "placement.file: \"%.200s\"; expected with placement from_file only",
                         description->placement_file);
    if (description->placement_weights && !(*rule)->spread)
        return error_set(error,
                         "placement.weights: with placement \"%s\"; expected round_robin or area_group",
                         (*rule)->name);
    if (!description->placement)
        json_object_set_new(description->json.object, "placement", json_string((*rule)->name));
    return true;
}

/// Says whether a lane may carry synapses from one area to another.
static bool carries(const struct schedule *schedule, int l, uint32_t source_area, uint32_t target_area) {
    const struct lane_plan *lane = &schedule->lanes[l];
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
    int lane = schedule->n_lanes - 1;
    for (uint32_t i = 0; i < projection->n_sources; i++) {
        int other = schedule_lane(schedule, network->populations[projection->sources[i]].area,
                                  network->populations[projection->target].area);
        if (i > 0 && other != lane) return -1;
        lane = other;
    }
    return lane;
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
    if (lane->shortest_delay < d_min)
        return error_set(error, "time.cycle_ms: %.10g; expected at most %.10g, the shortest delay in lane %s",
                         d->given.cycle_ms, lane->shortest_delay * h, lane->name);
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
    if (schedule->rule.lanes[l].bound) {
        if (!fields_item(&d->json, "schedule", (size_t)l, &fields, error) ||
            !read_areas(&lane->areas.from, &fields, "from", &d->network, error) ||
            !read_areas(&lane->areas.to, &fields, "to", &d->network, error))
            return false;
        grouping_members(&lane->groups, placement, &lane->areas);
        return true;
    }
    if (lane->group == group_square) lane->group = grouping_square(ranks);
    if (lane->group > 0 && ranks % lane->group != 0)
        return error_set(error, "schedule.%d.group: %d; expected a divisor of the %d ranks", l, lane->group,
                         ranks);
    if (lane->group == group_area) {
        grouping_areas(&lane->groups, placement);
        return true;
    }
    const int block = lane->group == group_world ? ranks : lane->group;
    open_groups(&lane->groups, ranks);
    for (int rank = 0; rank < ranks; rank++) lane->groups.first[rank] = rank / block * block;
    number_groups(&lane->groups);
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
        struct lane_plan *lane = &schedule->lanes[l];
        FREE(lane->areas.from, lane->areas.to, lane->groups.first, lane->groups.place, lane->groups.size);
        levels_close(&lane->exchange.levels);
    }
    free(schedule->areas);
}
