#include "app/explain.h"

#include "app/estimate.h"
#include "base/alloc.h"
#include "schedule/lane_json.h"
#include "schedule/lane_levels.h"
#include <stdio.h>
#include <stdlib.h>

static json_t *network_json(const struct network *network) {
    return json_pack("{sI sI sI sI sb sI}", "neurons", (json_int_t)network->n_neurons, "populations",
                     (json_int_t)network->n_populations, "areas", (json_int_t)network->n_areas, "synapses",
                     (json_int_t)network_synapses(network), "synapses_are_expected",
                     (int)explain_synapses_are_expected(network), "seed", (json_int_t)network->seed);
}

static json_t *time_json(const struct description *d) {
    return json_pack("{sf sf sI sI sI}", "resolution_ms", d->given.resolution_ms, "cycle_ms",
                     d->given.cycle_ms, "steps_per_cycle", (json_int_t)d->steps_per_cycle, "cycles",
                     (json_int_t)d->cycles, "warmup_cycles", (json_int_t)d->warmup_cycles);
}

static json_t *input_json(const struct description *d) {
    const struct network *network = &d->network;
    json_t *ring = json_pack("{sI si sf}", "slots", (json_int_t)network->longest_delay + 1, "bits",
                             network->narrow_input ? 16 : 32, "unit", network->weight_unit);
    return json_pack("{so si sf}", "ring", ring, "bytes_per_synapse", network->normal ? 8 : 4,
                     "external_events_per_s", explain_external_events(d));
}

/// Returns the connections in each level of a composed exchange, or null.
static json_t *levels_json(const struct lane_plan *lane) {
    json_t *list = lane->exchange.levels.n ? json_array() : json_null();
    for (int l = 0; l < lane->exchange.levels.n; l++) {
        const struct lane_connections found = lane_connections(lane, l);
        json_array_append_new(list, json_pack("{sf si sf}", "connections_mean", found.mean,
                                              "connections_most", found.most, "messages_most", found.all));
    }
    return list;
}

static json_t *lanes_json(const struct description *d, const struct schedule *schedule) {
    json_t *list = json_array();
    for (int l = 0; l < schedule->n_lanes; l++) {
        json_t *lane = lane_json(&schedule->lanes[l], d);
        json_object_set_new(lane, "synapses", json_integer((json_int_t)schedule->lanes[l].n_synapses));
        json_object_set_new(lane, "blocks", json_boolean(lane_blocks(&schedule->lanes[l])));
        json_object_set_new(lane, "levels", levels_json(&schedule->lanes[l]));
        json_array_append_new(list, lane);
    }
    return list;
}

static json_t *bytes_json(const struct estimate *e) {
    return json_pack("{sf sf sf sf sf sf}", "neurons", e->neurons, "synapses", e->synapses, "lists", e->lists,
                     "routes", e->routes, "ring", e->ring, "buffers", e->buffers);
}

static json_t *ranks_json(const struct description *d, const struct placement *placement,
                          const struct schedule *schedule) {
    json_t *list = json_array();
    uint32_t *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        const struct estimate estimate = estimate_rank(d, placement, schedule, rank);
        json_array_append_new(list, json_pack("{sI sf sf so sf}", "neurons", (json_int_t)neurons[rank],
                                              "synapses", estimate.synapses / (d->network.normal ? 8 : 4),
                                              "memory_bytes", estimate_sum(&estimate), "memory_parts",
                                              bytes_json(&estimate), "building_bytes", estimate.building));
    }
    free(neurons);
    return list;
}

void explain_print_json(const struct description *d, const struct placement *placement,
                        const struct schedule *schedule) {
    json_t *delay_ratio =
        schedule_uses_delay_ratio(schedule) ? json_integer((json_int_t)d->delay_ratio) : json_null();
    json_t *all = json_pack("{ss si so so si si ss sf ss so so so so}", "kind", "explanation",
                            "format_version", 1, "network", network_json(&d->network), "time", time_json(d),
                            "ranks", placement->ranks, "threads", placement->threads, "placement",
                            placement->rule->name, "balance", placement_balance(placement), "schedule",
                            schedule->rule.name, "delay_ratio", delay_ratio, "input", input_json(d), "lanes",
                            lanes_json(d, schedule), "per_rank", ranks_json(d, placement, schedule));
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(all);
}
