/// \file
/// Carries out a dry run: times what is made up apart from what the rank computes, and plugs both into
/// the core (struct dry_hooks).
///
/// The phases deliver, update and collocate are those of a real run, since their work depends on the rank's
/// own synapses and on what arrives only. What the other ranks would do is replaced: their spikes are made up
/// (foreign.c), an exchange that copies words takes the place of MPI (transport/exchange/made_up.c), and
/// routes are computed (dry_routes.c). Waiting and exchanging do not exist and are marked as not measured.

#include "run/dry.h"

#include "measurement/clock.h"
#include "run/dry_routes.h"
#include "run/foreign.h"
#include <math.h>

/// Checks whether the spikes of others are known or a rate is given, and chooses how to make routes.
static bool dry_check(struct dry *dry, const struct description *description, struct error *error) {
    const struct network *network = &description->network;
    const struct population *unknown = NULL;
    for (uint32_t p = 0; p < network->n_populations; p++)
        if (network->populations[p].size > 0 && !neuron_model_find(network->populations[p].model)->train)
            unknown = &network->populations[p];
    dry->exact_spikes = !unknown;
    const double draws = (double)network_synapses(network);
    const double most = dry->of <= dry_ranks_most ? dry_draws_most : dry_draws_few;
    dry->exact_routes = dry->routing == routing_exact || (dry->routing == routing_by_size && draws <= most);
    if (unknown && isnan(dry->rate_hz))
        return error_set(error,
                         "--rate: missing, and the rate of population %.60s (%.40s) is unknown, since its "
                         "spikes depend on what it receives; expected the spikes/s of such neurons",
                         unknown->name, unknown->model);
    if (!unknown && !isnan(dry->rate_hz))
        return error_set(error, "--rate: %.10g; expected none, since the spikes of all neurons are known",
                         dry->rate_hz);
    return true;
}

/// Ends the time of making routes, which dry_routes_open() has begun by subtracting the clock.
static void dry_end_routes(struct dry *dry) {
    dry->routes_s += clock_now();
}

/// Returns the words that all lanes have copied so far. Only those of several ranks copy any.
static uint64_t words(const struct lane *lanes, int n) {
    uint64_t sum = 0;
    for (int l = 0; l < n; l++)
        for (uint32_t i = 0; lanes[l].foreign && i <= lanes[l].plan->lag; i++)
            sum += made_up_copied(lanes[l].transfers[i].exchange);
    return sum;
}

/// Begins to count anew where the measured part begins.
static void dry_reset(struct dry *dry, const struct lane *lanes, int n) {
    dry->prepare_s = dry->receive_buffer_s = 0;
    dry->reference = words(lanes, n);
}

/// Hands the words that the other ranks send in the window that ends at step `next` to the exchange that will
/// copy them.
static void make_up(const struct lane *lane, uint32_t next) {
    const struct transfer *transfer = &lane->transfers[lane->filling];
    if (lane->foreign)
        made_up_expect(transfer->exchange, foreign_window(lane->foreign, transfer->first_step, next));
}

/// Takes the place of exchange_lane() (run/simulate.c).
static void dry_exchange(struct dry *dry, struct lane *lane, uint32_t next, bool all) {
    const double begin = clock_now();
    make_up(lane, next);
    const double prepared = clock_now();
    lane_start(lane, next);
    lane_finish(lane, all);
    dry->receive_buffer_s += clock_now() - prepared;
    dry->prepare_s += prepared - begin;
}

/// Marks phases that a single rank does not have.
static void dry_end(struct dry *dry, struct cycle_log *log, const struct lane *lanes, int n) {
    static const enum phase of_others[] = {phase_synchronise, phase_exchange, phase_overlap_wait};
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) cycle_log_unmeasured(log, of_others[i]);
    dry->words = words(lanes, n) - dry->reference;
}

static const struct dry_hooks hooks = {
    .check = dry_check,
    .open_routes = dry_routes_open,
    .end_routes = dry_end_routes,
    .open_foreign = foreign_open,
    .close_foreign = foreign_close,
    .open_exchange = made_up_open,
    .reset = dry_reset,
    .exchange = dry_exchange,
    .end = dry_end,
};
const struct dry_hooks *const dry_hooks = &hooks;
