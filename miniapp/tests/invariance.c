#include "invariance.h"

const char *const narrow_weight = "network.projections.0.weight=2";
const char *const wide_weight = "network.projections.0.weight=1.2345678";
const char *const own_weights = "network.projections.0.weight={\"mean\": 2, \"sd\": 0.5, \"classes\": 0}";

struct outcome expect(const char *weight, bool narrow) {
    struct description description;
    open_description(&description, eight_areas, (const char *const[]){weight, NULL});
    assert_int_equal(description.network.narrow_input, narrow);
    struct outcome expected = run_brute_force(&description, -1);
    assert_true(expected.spikes > 100);
    description_close(&description);
    return expected;
}

void check(const char *const *overrides, int threads, const struct outcome *expected) {
    struct description description;
    open_description(&description, eight_areas, overrides);
    struct outcome outcome = run_network(&description, threads, MPI_COMM_WORLD, NULL);
    if (outcome.checksum != expected->checksum || outcome.spikes != expected->spikes ||
        outcome.synaptic_events != expected->synaptic_events || outcome.synapses != expected->synapses ||
        outcome.external_events != expected->external_events)
        fail_msg(
            "%s, %s, %s, %d threads: checksum %llx, %llu spikes, %llu events, %llu from outside; by brute "
            "force %llx, %llu, %llu, %llu",
            overrides[0], overrides[1], overrides[2], threads, (unsigned long long)outcome.checksum,
            (unsigned long long)outcome.spikes, (unsigned long long)outcome.synaptic_events,
            (unsigned long long)outcome.external_events, (unsigned long long)expected->checksum,
            (unsigned long long)expected->spikes, (unsigned long long)expected->synaptic_events,
            (unsigned long long)expected->external_events);
    assert_true(outcome.first_accesses >= expected->first_accesses);
    description_close(&description);
}
