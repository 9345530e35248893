/// \file
/// Neuron models: none of them depends on how it is cut into blocks, and each fires as it should.

#include "description/field_table.h"
#include "support.h"

enum { neurons = 200, steps = 3000 };

static struct neuron_setup setup_of(const struct neuron_model *model, struct share share) {
    struct neuron_setup setup = {
        .seed = 4, .resolution_ms = 0.1, .input_unit = 10, .population = 2, .share = share};
    for (uint32_t i = 0; i < model->n_parameters; i++) setup.parameters[i] = model->parameters[i].fallback;
    return setup;
}

/// Returns the input to neuron `gid` at `step`, which is the same however the neurons are cut.
static int32_t input_of(uint32_t gid, uint32_t step) {
    uint32_t word = rng_draw(1, rng_neuron, 99, gid, step).word[0];
    return word % 50 == 0 ? (int32_t)(word % 1000) : 0;
}

/// Runs one block, and notes in fired[step][gid] who fires and in left[gid] what state is left.
static void run_block(const struct neuron_model *model, struct share share, bool (*fired)[neurons],
                      uint64_t *left) {
    struct neuron_setup setup = setup_of(model, share);
    void *state = model->open(&setup);
    int32_t *input = ALLOC(int32_t, share.count);
    uint32_t *numbers = ALLOC(uint32_t, share.count);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t i = 0; i < share.count; i++) input[i] = input_of(share.first + i * share.stride, step);
        uint32_t n = model->update(state, input, step, numbers);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(i == 0 || numbers[i] > numbers[i - 1]);
            fired[step][share.first + numbers[i] * share.stride] = true;
        }
    }
    for (uint32_t i = 0; i < share.count; i++)
        left[share.first + i * share.stride] = model->state_of(state, i);
    model->close(state);
    FREE(input, numbers);
}

TEST(spikes_do_not_depend_on_the_cut_into_blocks) {
    bool(*whole)[neurons] = alloc(steps, sizeof *whole), (*cut)[neurons] = alloc(steps, sizeof *cut);
    uint64_t whole_left[neurons], cut_left[neurons];
    for (int m = 0; neuron_models[m]; m++) {
        memset(whole, 0, steps * sizeof *whole);
        memset(cut, 0, steps * sizeof *cut);
        run_block(neuron_models[m], (struct share){0, 1, neurons}, whole, whole_left);
        for (uint32_t part = 0; part < 3; part++)
            run_block(neuron_models[m], (struct share){part, 3, (neurons - part + 2) / 3}, cut, cut_left);
        assert_memory_equal(whole, cut, steps * sizeof *whole);
        assert_non_null(memchr(whole, true, steps * sizeof *whole));
        assert_memory_equal(whole_left, cut_left, sizeof whole_left);
    }
    FREE(whole, cut);
}

/// Runs ignore_and_fire and counts: spikes in all, the neurons' first steps, and the intervals seen.
static uint32_t fire(double rate_hz, double rate_cv, uint32_t *first, uint32_t *shortest, uint32_t *longest) {
    const struct neuron_model *model = neuron_model_find("ignore_and_fire");
    struct neuron_setup setup = setup_of(model, (struct share){0, 1, neurons});
    setup.parameters[0] = rate_hz;
    setup.parameters[1] = rate_cv;
    void *state = model->open(&setup);
    int32_t input[neurons] = {0};
    uint32_t fired[neurons], last[neurons], count = 0;
    memset(last, 0xff, sizeof last);
    memset(first, 0xff, neurons * sizeof *first);
    *shortest = UINT32_MAX, *longest = 0;
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t n = model->update(state, input, step, fired);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t neuron = fired[i], interval = step - last[neuron];
            if (last[neuron] == UINT32_MAX) {
                first[neuron] = step;
            } else {
                *shortest = interval < *shortest ? interval : *shortest;
                *longest = interval > *longest ? interval : *longest;
            }
            last[neuron] = step;
        }
        count += n;
    }
    model->close(state);
    return count;
}

TEST(ignore_and_fire_keeps_its_interval_and_spreads_its_phases) {
    uint32_t first[neurons], shortest, longest;
    uint32_t count = fire(2.5, 0, first, &shortest, &longest);
    assert_int_equal(shortest, 4000);
    assert_int_equal(longest, 4000);
    assert_int_equal(count, neurons * 5); // 2 s at 2.5 Hz, every phase below one interval
    double mean = 0;
    for (int i = 0; i < neurons; i++) mean += (double)first[i] / neurons;
    assert_true(fabs(mean - 2000) < 4 * 4000 / sqrt(12.0 * neurons));
}

TEST(rates_spread_and_stay_positive) {
    uint32_t first[neurons], shortest, longest;
    uint32_t count = fire(10, 0.3, first, &shortest, &longest);
    assert_true(shortest < 900 && longest > 1200);
    assert_true(fabs(count - neurons * 20.0) < 4 * neurons * 20.0 * 0.3 / sqrt(neurons));
    fire(10, 1, first, &shortest, &longest); // many redraws
    assert_true(shortest > 0);
}

TEST(rate_zero_is_silent) {
    uint32_t first[neurons], shortest, longest;
    assert_int_equal(fire(0, 0, first, &shortest, &longest), 0);
}

TEST(rates_beyond_the_resolution_fire_in_every_step) {
    uint32_t first[neurons], shortest, longest;
    assert_int_equal(fire(1e6, 0, first, &shortest, &longest), neurons * 20000);
}

static const char *const one_population =
    "{'format_version': 1, 'time': {'simulate_ms': 1}, 'network': {'populations': ["
    " {'name': 'a', 'size': 9, 'neuron': {'model': 'ignore_and_fire'}}]}}";

static void assert_neuron_refused(const char *override, const char *message) {
    struct description d;
    struct error error = {""};
    const struct neuron_model *model;
    double parameters[neuron_parameters_max];
    open_description(&d, one_population, (const char *const[]){override, NULL});
    assert_false(neuron_model_read(&d.network.populations[0], &model, parameters, &error));
    if (!strstr(error.text, message)) fail_msg("the message is '%s', expected '%s'", error.text, message);
    description_close(&d);
}

TEST(bad_models_and_parameters_are_refused) {
    assert_neuron_refused("network.populations.0.neuron.model=liff",
                          "network.populations.0.neuron.model: \"liff\"; expected ignore_and_fire");
    assert_neuron_refused(
        "network.populations.0.neuron.rate=3",
        "network.populations.0.neuron.rate: unknown field; expected model, rate_hz, rate_cv");
    assert_neuron_refused("network.populations.0.neuron.rate_hz=-2",
                          "network.populations.0.neuron.rate_hz: -2; expected a number from 0");
}

TEST(parameters_beyond_their_limits_are_refused) {
    for (int m = 0; neuron_models[m]; m++)
        for (uint32_t i = 0; i < neuron_models[m]->n_parameters; i++)
            for (int above = 0; above <= 1; above++) {
                const struct parameter *p = &neuron_models[m]->parameters[i];
                double value = above ? 2 * p->high + 1 : p->low <= 0 ? 2 * p->low - 1 : -p->low;
                char neuron[200], message[200];
                snprintf(neuron, sizeof neuron,
                         "network.populations.0.neuron={\"model\": \"%s\", \"%s\": %.17g}",
                         neuron_models[m]->name, p->name, value);
                snprintf(message, sizeof message, "network.populations.0.neuron.%s: %s", p->name,
                         value < 0 ? "-" : "");
                assert_neuron_refused(neuron, message);
                snprintf(message, sizeof message, "; expected a number from %.10g to %.10g", p->low, p->high);
                assert_neuron_refused(neuron, message);
            }
}
