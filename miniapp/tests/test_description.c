/// \file
/// Reading a run description: defaults, overrides, and what is refused, with the line that says so.

#include "support.h"

static const char *const good =
    "{'format_version': 1, 'time': {'cycle_ms': 0.2, 'simulate_ms': 10, 'warmup_ms': 1}, 'delay_ratio': 5,"
    " 'network': {'populations': ["
    "  {'name': 'left', 'size': 100, 'neuron': {'model': 'ignore_and_fire'}},"
    "  {'name': 'right', 'area': 'r', 'size': 50, 'neuron': {'model': 'ignore_and_fire', 'rate_hz': 5}}],"
    " 'projections': ["
    "  {'source': ['left', 'right'], 'target': 'right', 'indegree': 10, 'delay': {'mean': 1.5, 'sd': 0.5, "
    "'min': 1}}"
    "]}}";

TEST(a_description_is_read) {
    struct description d;
    open_description(&d, good, NULL);
    assert_int_equal(d.steps_per_cycle, 2);
    assert_int_equal(d.cycles, 50);
    assert_int_equal(d.warmup_cycles, 5);
    assert_int_equal(d.delay_ratio, 5);
    assert_int_equal(d.network.n_neurons, 150);
    assert_int_equal(d.network.n_areas, 2);
    assert_int_equal(d.network.populations[1].first, 100);
    assert_int_equal(d.network.projections[0].pool, 150);
    assert_int_equal(d.network.projections[0].n_ranges, 1); // neighbours make one range
    assert_int_equal(d.network.projections[0].n_sources, 2);
    assert_int_equal(d.network.projections[0].delay.shortest, 10);
    assert_int_equal(d.network.longest_delay, 35); // mean + 4 sd
    assert_int_equal(network_synapses(&d.network), 500);
    description_close(&d);
}

TEST(defaults_are_filled_in) {
    struct description d;
    open_description(&d, good, NULL);
    json_t *time = json_object_get(d.json.object, "time");
    assert_true(json_number_value(json_object_get(time, "resolution_ms")) == 0.1);
    assert_string_equal(d.schedule, "conventional");
    assert_true(d.given.inject_mean_us == 0 && d.given.inject_factor == 1 && !d.inject_sleeps);
    assert_true(d.given.barrier == 1 && d.given.record_cycles == 1 && d.given.record_spikes == 0);
    description_close(&d);
}

TEST(overrides_change_single_fields) {
    struct description d;
    const char *const overrides[] = {"network.populations.0.size=7", "schedule=structure_aware",
                                     "exchange.far=alltoall",        "record.spikes=true",
                                     "time.simulate_ms=20",          NULL};
    const char *text = good;
    assert_string_equal(refusal(text, (const char *const[]){"exchange.far=alltoall", NULL}), "");
    open_description(&d, text, overrides);
    assert_int_equal(d.network.populations[0].size, 7);
    assert_int_equal(d.cycles, 100);
    assert_string_equal(d.schedule, "structure_aware");
    json_t *exchange = json_object_get(d.json.object, "exchange");
    assert_string_equal(json_string_value(json_object_get(exchange, "far")), "alltoall");
    assert_int_equal(json_object_size(exchange), 1);
    assert_true(d.given.record_spikes == 1);
    description_close(&d);
}

TEST(integers_may_have_a_point) {
    struct description d;
    open_description(&d, good, OVERRIDES("network.populations.0.size=4e1", "delay_ratio=5.0", "seed=3.0"));
    assert_int_equal(d.network.populations[0].size, 40);
    assert_int_equal(d.delay_ratio, 5);
    assert_true(json_is_integer(json_object_get(d.json.object, "seed")));
    assert_true(json_is_integer(json_object_get(d.json.object, "delay_ratio")));
    description_close(&d);
}

/// An override that makes the description bad, and how the message must begin and what it must contain.
static const struct bad {
    const char *override, *begins, *contains;
} bad[] = {
    {"tiem=3", "tiem: unknown field", "time"},
    {"time.warmup=3", "time.warmup: unknown field", "warmup_ms"},
    {"record.spike=true", "record.spike: unknown field", "spikes"},
    {"network.populations.1.sise=3", "network.populations.1.sise: unknown field", "size"},
    {"network.projections.0.delay.low=3", "network.projections.0.delay.low: unknown field", "min"},
    {"format_version=2", "format_version: 2", "from 1 to 1"},
    {"seed=-1", "seed: -1", "from 0"},
    {"seed=1.5", "seed: 1.5", "an integer"},
    {"seed=9007199254740993", "seed: 9007199254740993", "to 9007199254740992"},
    {"seed=abc", "seed: \"abc\"", "an integer"},
    {"time=3", "time: 3", "an object"},
    {"time.resolution_ms=0", "time.resolution_ms: 0", "a number"},
    {"time.cycle_ms=0.25", "time.cycle_ms: 0.25", "multiple of the resolution"},
    {"time.simulate_ms=10.1", "time.simulate_ms: 10.1", "multiple of the cycle"},
    {"time.simulate_ms=60000.05", "time.simulate_ms: 60000.05", "multiple of the cycle"},
    {"time.simulate_ms=90000000.05", "time.simulate_ms: 90000000.05", "multiple of the cycle"},
    {"time.simulate_ms=-5", "time.simulate_ms: -5", "a number"},
    {"time.simulate_ms=\"10\"", "time.simulate_ms: \"10\"", "a number"},
    {"time.warmup_ms=0.3", "time.warmup_ms: 0.3", "multiple of the cycle"},
    {"inject.per_neuron_ns=[]", "inject.per_neuron_ns: []", "for each rank"},
    {"inject.per_neuron_ns=[1, \"2\"]", "inject.per_neuron_ns.1: \"2\"", "a number from 0"},
    {"inject.per_synapse_ns=-1", "inject.per_synapse_ns: -1", "or a list"},
    {"inject.per_synapse_ns=1e7", "inject.per_synapse_ns: 1", "or a list"},
    {"delay_ratio=0", "delay_ratio: 0", "from 1"},
    {"delay_ratio=2.5", "delay_ratio: 2.5", "an integer"},
    {"delay_ratio=most", "delay_ratio: \"most\"", "auto"},
    {"schedule=3", "schedule: 3", "or a list"},
    {"time.cycle_ms=0", "time.cycle_ms: 0", "a number from"},
    {"time.simulate_ms=null", "time.simulate_ms: null", "a number from"},
    {"inject.wait=doze", "inject.wait: \"doze\"", "spin, sleep"},
    {"record.counters=[3]", "record.counters.0: 3", "a string"},
    {"record.energy_sensors=[\"a\", \"a\"]", "record.energy_sensors: [", "different names"},
    {"placement={\"name\": \"area\"}", "placement.file: missing", "weights"},
    {"record.spikes=1", "record.spikes: 1", "true or false"},
    {"network.populations=[]", "network.populations: no neuron", "at least one"},
    {"network.populations=7", "network.populations: 7", "a list"},
    {"network.populations.0=7", "network.populations.0: 7", "an object"},
    {"network.populations.0.size=-5", "network.populations.0.size: -5", "an integer"},
    {"network.populations.0.size=5e9", "network.populations.0.size: 5", "to 4000000000"},
    {"network.populations.0.name=right", "network.populations.1.name: \"right\"", "no other population"},
    {"network.populations.0.name=", "network.populations.0.name: \"\"", "not empty"},
    {"network.populations.0.neuron={}", "network.populations.0.neuron.model: missing", "a string"},
    {"network.projections.0.source=middle", "network.projections.0.source: \"middle\"", "left, right"},
    {"network.projections.0.source=[3]", "network.projections.0.source.0: 3", "a string"},
    {"network.projections.0.target=middle", "network.projections.0.target: \"middle\"", "left, right"},
    {"network.projections.0.indegree=-1", "network.projections.0.indegree: -1", "an integer"},
    {"network.projections.0.indegree=2.5", "network.projections.0.indegree: 2.5", "an integer"},
    {"network.projections.0.source=[]", "network.projections.0.indegree: 10", "no neuron"},
    {"network.projections.0.weight=heavy", "network.projections.0.weight: \"heavy\"", "a number"},
    {"network.projections.0.weight=1e13", "network.projections.0.weight: 1000", "to 1000000000000"},
    {"network.projections.0.weight=5e-324", "network.projections.0.weight: 4.94", "1e-100"},
    {"network.projections.0.delay=1", "network.projections.0.delay: 1", "an object"},
    {"network.projections.0.delay.mean=-1", "network.projections.0.delay.mean: -1", "a number"},
    {"network.projections.0.delay.sd=-1", "network.projections.0.delay.sd: -1", "a number"},
    {"network.projections.0.delay.min=0.05", "network.projections.0.delay.min: 0.05", "resolution"},
    {"network.projections.0.delay.max=0.5", "network.projections.0.delay.max: 0.5", "at least min"},
    {"network.projections.0.delay.distribution=gamma", "network.projections.0.delay.distribution: \"gamma\"",
     "normal, exponential, constant"},
    {"network.projections.0.delay={\"distribution\": \"exponential\", \"mean\": 1, \"sd\": 1}",
     "network.projections.0.delay.sd: 1", "0 unless the distribution"},
    {"network.projections.0.delay={\"distribution\": \"exponential\", \"mean\": 1e-6, \"min\": 9, \"max\": "
     "9}",
     "network.projections.0.delay.mean: 1e-06", "some weight in [9, 9]"},
    {"network.projections.5.weight=1", "--set network.projections.5.weight=1: 5", "0 to 0"},
    {"network.projections.x.weight=1", "--set network.projections.x.weight=1: x", "0 to 0"},
    {"seed.deeper=1", "seed", ""},
    {"nonsense", "--set nonsense: no field or no value", "path.to.field=value"},
    {"=5", "--set =5: no field", "path.to.field=value"},
    {"a\nb=1", "a?b: unknown field", "seed"},
};

TEST(bad_descriptions_are_refused_with_one_line) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *message = refusal(good, (const char *const[]){bad[i].override, NULL});
        if (strncmp(message, bad[i].begins, strlen(bad[i].begins)) != 0 ||
            !strstr(message, bad[i].contains) || strchr(message, '\n'))
            fail_msg("%s: the message is '%s', expected '%s ... %s'", bad[i].override, message, bad[i].begins,
                     bad[i].contains);
    }
}

TEST(what_is_missing_is_named) {
    assert_non_null(strstr(refusal("{}", NULL), "format_version: missing"));
    assert_non_null(strstr(refusal("{'format_version': 1}", NULL), "time: missing"));
    assert_non_null(strstr(refusal("{'format_version': 1, 'time': {}, 'network': {}}", NULL),
                           "time.simulate_ms: missing"));
    assert_non_null(
        strstr(refusal("{'format_version': 1, 'time': {'simulate_ms': 1}}", NULL), "network: missing"));
    assert_non_null(strstr(refusal("[]", NULL), "a JSON object"));
}

/// A network with two weights and in-degree K each: which unit is chosen, and whether 16 bits do.
static void assert_unit(double first, double second, int indegree, double unit, bool narrow) {
    char text[500];
    struct description d;
    snprintf(text, sizeof text,
             "{'format_version': 1, 'time': {'simulate_ms': 1}, 'network': {'populations': ["
             " {'name': 'a', 'size': 9, 'neuron': {'model': 'ignore_and_fire'}}], 'projections': ["
             " {'source': 'a', 'target': 'a', 'indegree': %d, 'weight': %.17g, 'delay': {'mean': 1}},"
             " {'source': 'a', 'target': 'a', 'indegree': %d, 'weight': %.17g, 'delay': {'mean': 1}}]}}",
             indegree, first, indegree, second);
    open_description(&d, text, NULL);
    assert_int_equal(d.network.narrow_input, narrow);
    assert_true(fabs(d.network.weight_unit - unit) < 1e-12);
    double sum = indegree * (fabs((double)d.network.projections[0].weights.units[0]) +
                             fabs((double)d.network.projections[1].weights.units[0]));
    assert_true(sum <= (narrow ? INT16_MAX : INT32_MAX));
    description_close(&d);
}

TEST(weights_get_the_unit_that_fits) {
    assert_unit(1, 1, 5000, 1, true);
    assert_unit(0.1, -0.4, 1000, 0.1, true); // balanced networks: g = -4
    assert_unit(2, 3, 10, 1, true);          // neither divides the other
    assert_unit(0, 0, 10, 1, true);
    assert_unit(1, 1, 0, 1, true);              // no synapses: any weight will do
    assert_unit(1, 1, 16384, exp2(-15), false); // 32768 synapses: one too many for 16 bits
    assert_unit(1, 1.23456, 100, exp2(-22), false);
}

TEST(weights_too_small_for_the_fixed_point_are_refused) {
    const char *text =
        "{'format_version': 1, 'time': {'simulate_ms': 1}, 'network': {'populations': ["
        " {'name': 'a', 'size': 9, 'neuron': {'model': 'ignore_and_fire'}}], 'projections': ["
        " {'source': 'a', 'target': 'a', 'indegree': 1000, 'weight': 1000, 'delay': {'mean': 1}},"
        " {'source': 'a', 'target': 'a', 'indegree': 1, 'weight': 1e-9, 'delay': {'mean': 1}}]}}";
    assert_non_null(
        strstr(refusal(text, NULL), "network.projections.1.weight: 1e-09; expected 0 or at least"));
}
