#include "app/explain.h"

#include "app/estimate.h"
#include "base/alloc.h"
#include "schedule/lane_json.h"
#include "schedule/lane_levels.h"
#include <stdio.h>
#include <stdlib.h>

static void explain_memory(const struct description *description, const struct placement *placement,
                           const struct schedule *schedule) {
    struct estimate most = {0};
    double all = 0;
    int largest = 0;
    for (int rank = 0; rank < placement->ranks; rank++) {
        struct estimate e = estimate_rank(description, placement, schedule, rank);
        all += estimate_sum(&e);
        if (estimate_sum(&e) <= estimate_sum(&most)) continue;
        most = e;
        largest = rank;
    }
    const double mib = 1024.0 * 1024.0;
    printf(
        "memory     %.1f MiB in all, %.1f MiB on the largest rank (%d): synapses %.1f, lists %.1f, routes "
        "%.1f, ring %.1f, neurons %.1f, buffers %.1f; MPI and the program itself come on top, and %.1f MiB "
        "while it is built\n",
        all / mib, estimate_sum(&most) / mib, largest, most.synapses / mib, most.lists / mib,
        most.routes / mib, most.ring / mib, most.neurons / mib, most.buffers / mib, most.building / mib);
}

/// Returns the end of the noun in "1 cycle", "2 cycles".
static const char *plural(unsigned long long n) {
    return n == 1 ? "" : "s";
}

/// Prints of what an exchange is composed, if it is.
static void explain_composed(const struct lane_plan *lane) {
    const struct levels levels = levels_resolve(&lane->exchange.levels, lane->groups.largest);
    if (levels.ragged) {
        printf(" of %s and %s in groups of %d", levels.part[0]->name, levels.part[1]->name, levels.size[0]);
        return;
    }
    for (int l = 0; l < levels.n; l++)
        printf("%s%d by %s", l ? " x " : " of ", levels.size[l], levels.part[l]->name);
}

/// Prints how many others the ranks of a lane may send to in each level of a composed exchange.
static void explain_levels(const struct lane_plan *lane) {
    for (int l = 0; l < lane->exchange.levels.n; l++) {
        const struct lane_connections found = lane_connections(lane, l);
        printf(
            "level      %-8s %d: a rank has %.4g connections on average and %d at most, so there are at most "
            "%.0f messages with words in a window\n",
            lane->name, l + 1, found.mean, found.most, found.all);
    }
}

static void explain_lane(const struct lane_plan *lane, const struct description *d) {
    const double h = d->given.resolution_ms;
    printf("lane       %-8s every %u cycle%s, lag %u, %s", lane->name, lane->period, plural(lane->period),
           lane->lag, lane->exchange.backend->name);
    explain_composed(lane);
    if (lane_blocks(lane)) printf(" (it blocks, so nothing overlaps)");
    if (lane->wire->words > 1) printf(" as %s", lane->wire->name);
    if (lane_areas_bound(&lane->areas))
        printf(" over %d of %d rank%s", lane->groups.largest, lane->groups.ranks,
               plural((unsigned)lane->groups.ranks));
    else
        printf(" over %s%d rank%s", lane->groups.groups > 1 && lane->groups.largest > 1 ? "up to " : "",
               lane->groups.largest, plural((unsigned)lane->groups.largest));
    printf(", %llu synapses, ", (unsigned long long)lane->n_synapses);
    if (lane->shortest_delay == 0)
        printf("no delay to keep\n");
    else
        printf("delays from %.10g ms, slack %.10g ms\n", lane->shortest_delay * h, lane_slack_ms(lane, d));
    explain_levels(lane);
}

double explain_external_events(const struct description *d) {
    double per_step = 0;
    for (uint32_t p = 0; p < d->network.n_populations; p++)
        per_step += d->network.populations[p].external.mean * d->network.populations[p].size;
    return per_step * 1e3 / d->given.resolution_ms;
}

bool explain_synapses_are_expected(const struct network *network) {
    for (uint32_t i = 0; i < network->n_projections; i++)
        if (network->projections[i].indegree.above) return true;
    return false;
}

/// Prints how input is summed, and how much of it comes from outside.
static void explain_input(const struct description *d) {
    const struct network *network = &d->network;
    const double events_per_s = explain_external_events(d);
    printf("input      weights in units of %.4g, summed in %d bits", network->weight_unit,
           network->narrow_input ? 16 : 32);
    if (network->normal) printf(", one for each synapse (eight bytes)");
    if (events_per_s > 0) printf(", and %.4g events from outside per simulated second", events_per_s);
    printf("\n");
}

/// Prints the schedule, and D where a lane uses it.
static void explain_schedule(const struct description *d, const struct schedule *schedule) {
    if (schedule_uses_delay_ratio(schedule))
        printf("schedule   %s, D = %u\n", schedule->rule.name, d->delay_ratio);
    else
        printf("schedule   %s\n", schedule->rule.name);
}

void explain_print(const struct description *d, const struct placement *placement,
                   const struct schedule *schedule) {
    const struct network *network = &d->network;
    uint32_t fewest = UINT32_MAX, most = 0, *neurons = ALLOC(uint32_t, (size_t)placement->ranks);
    placement_neurons(placement, neurons);
    for (int rank = 0; rank < placement->ranks; rank++) {
        fewest = neurons[rank] < fewest ? neurons[rank] : fewest;
        most = neurons[rank] > most ? neurons[rank] : most;
    }
    free(neurons);
    printf("network    %u neurons in %u population%s and %u area%s, %llu synapses%s, seed %llu\n",
           network->n_neurons, network->n_populations, plural(network->n_populations), network->n_areas,
           plural(network->n_areas), (unsigned long long)network_synapses(network),
           explain_synapses_are_expected(network) ? " expected, since in-degrees are random" : "",
           (unsigned long long)network->seed);
    printf("time       %u cycle%s of %.10g ms (%u step%s of %.10g ms) after %u of warm-up\n", d->cycles,
           plural(d->cycles), d->given.cycle_ms, d->steps_per_cycle, plural(d->steps_per_cycle),
           d->given.resolution_ms, d->warmup_cycles);
    printf("layout     %d rank%s x %d thread%s, placement %s, %u to %u neurons per rank, the most "
           "%.3f times the mean\n",
           placement->ranks, plural((unsigned)placement->ranks), placement->threads,
           plural((unsigned)placement->threads), placement->rule->name, fewest, most,
           placement_balance(placement));
    explain_input(d);
    explain_schedule(d, schedule);
    for (int l = 0; l < schedule->n_lanes; l++) explain_lane(&schedule->lanes[l], d);
    explain_memory(d, placement, schedule);
}
