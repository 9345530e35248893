/// \file
/// The spikes and counts of a network do not depend on how it is run: every placement, schedule, exchange and
/// number of threads, on the ranks this test is started with, against delivery by brute force.

#include "support.h"

static bool serves(const struct exchange_backend *backend) {
    const int ranks = world_ranks();
    return !backend->absent && (backend->ranks_max == 0 || backend->ranks_max >= ranks);
}

TEST(every_combination_gives_one_checksum) {
    const struct outcome narrow = expect(narrow_weight, true), wide = expect(wide_weight, false);
    const struct outcome own = expect(own_weights, false);
    int threads = 1;
    for (int s = 0; schedule_rules[s]; s++)
        for (int p = 0; placement_rules[p]; p++)
            for (int x = 0; exchange_backends[x]; x++) {
                char schedule[80], placement[placement_override_bytes], exchange[80];
                if (!serves(exchange_backends[x])) continue;
                snprintf(schedule, sizeof schedule, "schedule=%s", schedule_rules[s]->name);
                placement_override(placement, placement_rules[p]);
                snprintf(exchange, sizeof exchange, "exchange=%s", exchange_backends[x]->name);
                const char *overrides[] = {schedule,           placement,     exchange,
                                           "delay_ratio=auto", narrow_weight, NULL};
                check_outcome(overrides, threads, &narrow);
                threads = 3 - threads;
                if (x % 4 != s % 4) continue;
                overrides[4] = wide_weight;
                check_outcome(overrides, threads, &wide);
                overrides[4] = own_weights;
                check_outcome(overrides, threads, &own);
            }
}

/// Weights of ranks move neurons, and nothing else: 1, 2, 3, 1, 2, 3, ...
TEST_OF_VARIANTS(weights_of_ranks_give_the_same_checksum) {
    enum { bytes = 200 };
    const struct outcome expected = expect(narrow_weight, true);
    char weights[bytes] = "1";
    const int ranks = world_ranks();
    for (int rank = 1; rank < ranks; rank++)
        snprintf(weights + strlen(weights), bytes - strlen(weights), ", %d", 1 + rank % 3);
    for (int s = 0; schedule_rules[s]; s++)
        for (int p = 0; placement_rules[p]; p++) {
            char schedule[80], placement[2 * bytes];
            if (!placement_rules[p]->spread) continue;
            snprintf(schedule, sizeof schedule, "schedule=%s", schedule_rules[s]->name);
            snprintf(placement, sizeof placement, "placement={\"name\": \"%s\", \"weights\": [%s]}",
                     placement_rules[p]->name, weights);
            check_outcome((const char *const[]){schedule, placement, "delay_ratio=auto", narrow_weight, NULL},
                          1 + s % 2, &expected);
        }
}

TEST(every_wire_format_and_lag_gives_the_same_checksum) {
    const struct outcome expected = expect(narrow_weight, true);
    for (int x = 0; exchange_backends[x]; x++)
        for (int w = 0; wire_formats[w]; w++) {
            char exchange[80], wire[80];
            if (!serves(exchange_backends[x])) continue;
            snprintf(exchange, sizeof exchange, "exchange=%s", exchange_backends[x]->name);
            snprintf(wire, sizeof wire, "wire=%s", wire_formats[w]->name);
            check_outcome(
                (const char *const[]){exchange, wire, "schedule=overlapped", "lag=2", narrow_weight, NULL}, 1,
                &expected);
        }
}

TEST(lists_of_lanes_give_the_same_checksum) {
    const struct outcome expected = expect(narrow_weight, true);
    const int ranks = world_ranks();
    check_outcome((const char *const[]){"schedule=[{\"name\": \"all\"}]", "placement=area_group", "seed=7",
                                        narrow_weight, NULL},
                  1, &expected);
    if (ranks % 2 != 0) return;
    check_outcome((const char *const[]){"schedule=[{\"name\": \"pair\", \"group\": 2}, {\"name\": \"all\"}]",
                                        "placement=area", "seed=7", narrow_weight, NULL},
                  2, &expected);
    check_outcome(
        (const char *const[]){
            "schedule=[{\"name\": \"near\", \"group\": \"area\"}, {\"name\": \"pair\", \"group\": "
            "2, \"period\": \"auto\"}, {\"name\": \"all\", \"period\": 1, \"lag\": 2}]",
            "placement=area_group", "seed=7", narrow_weight, NULL},
        2, &expected);
}

/// Lanes between given areas: instead of one lane for all, with lags, and after and before other lanes. They
/// include an area without neurons (c), a lane within an area (a), and areas in several lanes.
static const char *const between_areas[3] = {
    "schedule=[{\"name\": \"own\", \"from\": \"a\", \"to\": [\"a\"]},"
    " {\"name\": \"in\", \"from\": [\"f\", \"b\", \"c\", \"e\"], \"to\": \"a\", \"period\": \"auto\"},"
    " {\"name\": \"to-f\", \"to\": \"f\", \"period\": \"D\"},"
    " {\"name\": \"to-d\", \"from\": [\"g\", \"h\", \"f\"], \"to\": \"d\"},"
    " {\"name\": \"from-e\", \"from\": \"e\", \"period\": 2},"
    " {\"name\": \"to-b\", \"from\": [\"h\", \"d\"], \"to\": \"b\", \"lag\": 2}]",
    "schedule=[{\"name\": \"near\", \"group\": \"area\"},"
    " {\"name\": \"some\", \"from\": [\"g\", \"e\"], \"to\": [\"f\", \"h\"], \"period\": \"D\"},"
    " {\"name\": \"to-a\", \"to\": \"a\", \"lag\": 1}, {\"name\": \"rest\", \"period\": \"auto\"}]",
    "schedule=[{\"name\": \"from-g\", \"from\": \"g\"}, {\"name\": \"block\", \"group\": 1},"
    " {\"name\": \"b-to-a\", \"from\": \"b\", \"to\": \"a\"}, {\"name\": \"rest\"}]",
};

/// Runs every exchange with every list, on one of the placements.
TEST(lanes_between_areas_give_the_same_checksum) {
    const struct outcome expected = expect(narrow_weight, true);
    int threads = 1;
    for (int s = 0; s < 3; s++)
        for (int p = 0; placement_rules[p]; p++)
            for (int x = 0; exchange_backends[x]; x++) {
                char placement[placement_override_bytes], exchange[80];
                if (!serves(exchange_backends[x]) || x % 3 != (s + p) % 3) continue;
                placement_override(placement, placement_rules[p]);
                snprintf(exchange, sizeof exchange, "exchange=%s", exchange_backends[x]->name);
                check_outcome(
                    (const char *const[]){between_areas[s], placement, exchange, narrow_weight, NULL},
                    threads, &expected);
                threads = 3 - threads;
            }
}

TEST(injected_waits_do_not_change_the_spikes) {
    const struct outcome expected = expect(narrow_weight, true);
    static const char *const waits[] = {"inject.wait=spin", "inject.wait=sleep"};
    static const char *const schedules[] = {"schedule=structure_aware", "schedule=overlapped"};
    for (size_t w = 0; w < 2; w++)
        for (size_t s = 0; s < 2; s++)
            check_outcome((const char *const[]){waits[w], schedules[s], "inject.mean_us=20",
                                                "inject.sd_us=20", "inject.per_neuron_ns=10",
                                                "inject.per_synapse_ns=1", "inject.correlation=0.5",
                                                "inject.rank_sd_us=10", "delay_ratio=auto",
                                                "inject.minor_mode={\"share\": 0.1, \"factor\": 2}",
                                                narrow_weight, NULL},
                          1, &expected);
}

/// Overrides for the areas a (two populations), b, d and f: the neuron model, input from outside of such a
/// weight, weights in classes or also of the synapses' own, and in-degrees that are fixed and random.
/// Populations without neurons or of a model of their own stay as they are.
enum { model_overrides = 15 };

static const char *const *overrides_of(const struct neuron_model *model, int weight, bool own_weights_too) {
    static char text[model_overrides][160];
    static const char *overrides[model_overrides + 4];
    static const int populations[] = {0, 1, 3, 5, 6};
    int n = 0;
    for (size_t p = 0; p < sizeof populations / sizeof *populations; p++) {
        snprintf(text[n], sizeof *text, "network.populations.%d.neuron={\"model\": \"%s\"}", populations[p],
                 model->name);
        snprintf(text[n + 1], sizeof *text,
                 "network.populations.%d.external={\"rate_hz\": 8, \"synapses\": 100, \"weight\": %d}",
                 populations[p], weight);
        n += 2;
    }
    snprintf(text[n++], sizeof *text, "network.projections.0.weight={\"mean\": %g, \"sd\": %g}",
             weight / 10.0, weight / 40.0);
    snprintf(text[n++], sizeof *text,
             "network.projections.3.weight={\"mean\": %g, \"sd\": %g, \"classes\": 5}", -weight / 10.0,
             weight / 50.0);
    snprintf(text[n++], sizeof *text, "network.projections.0.indegree={\"mean\": 11.5}");
    snprintf(text[n++], sizeof *text, "network.projections.4.indegree={\"mean\": 0.8}");
    snprintf(text[n++], sizeof *text,
             "network.projections.2.weight={\"mean\": %g, \"sd\": %g, \"classes\": %d}", weight / 10.0,
             weight / 40.0, own_weights_too ? 0 : 3);
    assert_int_equal(n, model_overrides);
    for (int i = 0; i < n; i++) overrides[3 + i] = text[i];
    overrides[3 + n] = NULL;
    return overrides;
}

TEST(every_neuron_model_gives_one_checksum) {
    for (int m = 0; neuron_models[m]; m++) {
        // The unit of the input differs from model to model, so the input grows until the neurons fire.
        const char **overrides = NULL;
        struct outcome expected = {0};
        for (int weight = 20; weight <= 20000 && expected.spikes < 2000; weight *= 10) {
            struct description description;
            overrides = (const char **)overrides_of(neuron_models[m], weight, m % 2 == 1);
            open_description(&description, eight_areas, overrides + 3);
            expected = run_brute_force(&description, -1);
            description_close(&description);
        }
        assert_true(expected.spikes > 100 && expected.external_events > 100);
        int threads = 1;
        for (int s = 0; schedule_rules[s]; s++)
            for (int p = 0; placement_rules[p]; p++) {
                char schedule[80], placement[placement_override_bytes];
                snprintf(schedule, sizeof schedule, "schedule=%s", schedule_rules[s]->name);
                placement_override(placement, placement_rules[p]);
                overrides[0] = schedule, overrides[1] = placement, overrides[2] = "delay_ratio=auto";
                check_outcome(overrides, threads, &expected);
                threads = 3 - threads;
            }
    }
}

TEST(the_network_depends_on_the_seed) {
    struct description one, two;
    open_description(&one, eight_areas, NULL);
    open_description(&two, eight_areas, (const char *const[]){"seed=8", NULL});
    struct outcome first = run_brute_force(&one, -1), second = run_brute_force(&two, -1);
    assert_true(first.checksum != second.checksum);
    description_close(&one);
    description_close(&two);
}

/// Ranks do not matter to it.
TEST(one_missing_synapse_changes_the_checksum) {
    if (world_ranks() > 1) return;
    struct description description;
    open_description(&description, eight_areas, (const char *const[]){"time.simulate_ms=24", NULL});
    struct outcome whole = run_brute_force(&description, -1);
    uint64_t noticed = 0, fired = 0;
    for (int64_t missing = 0; missing < (int64_t)whole.synapses; missing += 29) {
        struct outcome without = run_brute_force(&description, missing);
        // A synapse whose source never fires, or only so late that nothing arrives, cannot be noticed.
        fired += without.synaptic_events < whole.synaptic_events;
        noticed += without.checksum != whole.checksum;
    }
    assert_true(fired > 10);
    assert_true(noticed >= fired * 9 / 10);
    description_close(&description);
}

static void lengthen_far_windows(struct schedule *schedule) {
    schedule->lanes[schedule->n_lanes - 1].period += 1;
}

TEST(a_window_longer_than_the_shortest_delay_shows) {
    struct description description;
    const char *const overrides[] = {"schedule=structure_aware", "placement=round_robin", NULL};
    open_description(&description, eight_areas, overrides);
    struct outcome right = run_network(&description, 1, MPI_COMM_WORLD, NULL);
    struct outcome wrong = run_network(&description, 1, MPI_COMM_WORLD, lengthen_far_windows);
    assert_true(wrong.checksum != right.checksum);
    description_close(&description);
}

TESTS_NEED_MPI
